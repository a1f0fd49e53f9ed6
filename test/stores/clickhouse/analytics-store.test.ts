import { openTemporaryStore } from '../../advertising/helper.js';
import { analyticsStoreContract } from '../../contract/analytics-store.js';

analyticsStoreContract('embedded', () => openTemporaryStore());
