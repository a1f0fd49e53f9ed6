/** Increased with every change of a normal form or of the words of a value. Stores then rebuild their derived forms. */
export const SEARCH_RULES_VERSION = 10;
