/** The words of a text, of any number of lines. */
export const wordsOf = (text: string): string[] => text.trim().split(/\s+/);
