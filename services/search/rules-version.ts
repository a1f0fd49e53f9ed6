/**
 * Version of the search rules, increased with every change of a normal form, of the words of a value, or of the fields of a stored
 * contact or audience. SQLite then rebuilds its derived data when it opens, but keeps the fields of stored visits. Elasticsearch then requires `reachline migrate`, which reindexes.
 */
export const SEARCH_RULES_VERSION = 12;
