import type { ApiServices } from '../gateway/api.js';
import { systemClock } from '../shared/time.js';
import type { Stores } from '../stores/open-stores.js';

/** The services of operations that the command line calls without a gateway; `provisionalDays` matters to advertising alone. */
export const storeServices = (stores: Stores, provisionalDays = 0) =>
  ({ ...stores, clock: systemClock, provisionalDays }) as Stores as unknown as ApiServices;
