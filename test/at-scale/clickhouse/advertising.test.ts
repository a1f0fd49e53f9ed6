/** What the oracle knows of the advertising operations, on a server; rules that touch no store are tested embedded. */
import { useStores } from '../../advertising/helper.js';
import { onClickHouse, openHttpStore } from './support.js';

await onClickHouse(async () => {
  useStores(openHttpStore);
  await import('../../advertising/oracle.test.js');
});
