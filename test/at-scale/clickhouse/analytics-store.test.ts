import { analyticsStoreContract } from '../../contract/analytics-store.js';
import { openHttpStore } from './support.js';

analyticsStoreContract('over HTTP', () => openHttpStore());
