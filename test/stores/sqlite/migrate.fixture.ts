/** Reports that it has started, applies the migrations of a folder to a database, and sends the names of the applied ones. */
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { migrate } from '../../../services/stores/sqlite/migrations/migrate.js';

const [path, folder] = process.argv.slice(2) as [string, string];
const connection = new Connection(path, { cacheMb: 2 });
process.send?.('ready', () => {
  const applied = migrate(connection, folder);
  connection.close();
  process.send?.(applied, () => process.disconnect());
});
