import type { AnalyticsStore } from './analytics-store.js';
import type { SearchStore } from './search-store.js';

/** Both stores of a process, opened and migrated. */
export interface Stores {
  search: SearchStore;
  analytics: AnalyticsStore;
  close(): Promise<void>;
}
