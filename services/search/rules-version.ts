/**
 * Version of the search rules, increased with every change of a normal form, of the words of a value, or of the fields of a stored body.
 * SQLite then rebuilds its derived data when it opens. Elasticsearch then requires `reachline migrate`, which reindexes.
 */
export const SEARCH_RULES_VERSION = 12;
