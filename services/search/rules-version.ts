/** Raised with every change of a normal form or of the words of a value: stores then rebuild their derived forms. */
export const SEARCH_RULES_VERSION = 10;
