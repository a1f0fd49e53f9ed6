/** Every test of the advertising operations, on a server. */
import { useStores } from '../../advertising/helper.js';
import { onClickHouse, openHttpStore } from './support.js';

await onClickHouse(async () => {
  useStores(openHttpStore);
  await import('../../advertising/statuses.test.js');
  await import('../../advertising/oracle.test.js');
  await import('../../advertising/properties.test.js');
  await import('../../advertising/queries.test.js');
  await import('../../advertising/rules.test.js');
});
