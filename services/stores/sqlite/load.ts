import { withoutEmbeddedStores } from '../../shared/optional-package.js';

/** Loads the code of the store only when it is used, because an installation may lack the package. Throws `MissingPackageError`. */
export const loadSqlite = () => import('./store.js').catch(withoutEmbeddedStores);
