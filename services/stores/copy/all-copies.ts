import type { SqlCopies, SqlCopy } from '../common/sql-copy.js';

/** The copies of all servers, as erasures use them. */
export const allCopies = (copies: readonly SqlCopy[]): SqlCopies => ({
  async hide(...contacts) {
    const hidden = copies.map((copy) => copy.hide(...contacts));
    await Promise.allSettled(hidden);
    await Promise.all(hidden);
  },
  async readPositions() {
    for (const copy of copies) if (await copy.hasOtherTables()) return null;
    const positions = await Promise.all(copies.map((copy) => copy.readPosition()));
    return positions.flatMap((position) => position?.contacts ?? []);
  },
});
