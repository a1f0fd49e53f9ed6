/** What the oracle knows of the advertising operations, on a server; rules that touch no store are tested embedded. */
import { useStores } from '../../advertising/helper.js';
import { openHttpStore } from './support.js';

useStores(openHttpStore);
await import('../../advertising/oracle.test.js');
await import('../../advertising/conversion.test.js');
