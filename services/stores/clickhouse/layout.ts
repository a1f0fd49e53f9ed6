/** Where the tables and the views over them lie. */
export interface Layout {
  /** Database of the tables. */
  tables: string;
  /** Database of the views for analysts. */
  views: string;
  /** Null for tables of one server. */
  cluster: string | null;
}
