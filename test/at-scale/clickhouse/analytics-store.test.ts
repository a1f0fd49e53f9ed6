import { analyticsStoreContract } from '../../contract/analytics-store.js';
import { onClickHouse, openHttpStore } from './support.js';

await onClickHouse(() => analyticsStoreContract('over HTTP', () => openHttpStore()));
