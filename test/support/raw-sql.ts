/** Any text as SQL, for tests alone: a template forged at run time, which nothing in the program does. */
import { type Sql, sql } from '../../services/shared/sql.js';

export function rawSql(text: string): Sql {
  const strings = Object.assign([text], { raw: [text] });
  Object.freeze(strings);
  return sql(strings as unknown as TemplateStringsArray);
}
