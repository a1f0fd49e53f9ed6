/** Compares the advertising operations on a server with the oracle. Rules that touch no store are tested embedded. */
import { useStores } from '../../advertising/helper.js';
import { openHttpStore } from './support.js';

useStores(openHttpStore);
await import('../../advertising/oracle.test.js');
await import('../../advertising/conversion.test.js');
