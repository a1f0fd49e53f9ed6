/**
 * Marks of deletions that the feed of changes no longer has. Positions from before them expire, even if a later setting keeps marks for
 * longer. The bytes of deleted marks of erased contacts leave the index with the next force merge.
 */
import { retryWithBackoff } from '../retry.js';
import { isDropped, type ShardNumbers } from './expunge.js';
import type { JournalDocuments } from './journals.js';
import type { DeletedMarksSource } from './suppression.js';

const ID = 'deleted-marks';
const NONE: DeletedMarksSource = { before: 0 };

export class DeletedMarks {
  readonly #documents: JournalDocuments;

  constructor(documents: JournalDocuments) {
    this.#documents = documents;
  }

  /**
   * Marks from before this time may be gone. Times are in milliseconds since the epoch. A time in the future is ignored, because a clock was
   * wrong; otherwise every position would expire until then.
   */
  async readBefore(now: number): Promise<number> {
    const { before } = (await this.#read()).marks;
    return before > now ? 0 : before;
  }

  /** Called before marks are deleted. */
  begin(before: number, now: number, hasErased: boolean): Promise<void> {
    return this.#change((marks) => ({
      ...marks,
      before: marks.before > now ? before : Math.max(before, marks.before),
      is_deleting: marks.is_deleting || hasErased,
    }));
  }

  /** Called after marks were deleted. If a killed process left this out, the next process does it. */
  async end(lastOperations: () => Promise<ShardNumbers>): Promise<void> {
    if (!(await this.#read()).marks.is_deleting) return;
    const up_to = await lastOperations();
    await this.#change(({ before }) => ({ before, up_to }));
  }

  /** The last operations of the shards when marks of erased contacts were deleted; undefined if no byte of such marks is left. */
  async readUpTo(): Promise<ShardNumbers | undefined> {
    return (await this.#read()).marks.up_to;
  }

  /** Called after a force merge. */
  async complete(retainedFrom: ShardNumbers): Promise<void> {
    await this.#change((marks) => {
      const { up_to, ...rest } = marks;
      return up_to && isDropped(up_to, retainedFrom) ? rest : marks;
    });
  }

  async #read() {
    const found = await this.#documents.get(ID);
    return { found, marks: found?.source.expunge?.deleted_marks ?? NONE };
  }

  #change(change: (marks: DeletedMarksSource) => DeletedMarksSource): Promise<void> {
    return retryWithBackoff(async () => {
      const { found, marks } = await this.#read();
      const deleted_marks = change(marks);
      if (deleted_marks === marks) return true;
      const document = { expunge: { deleted_marks } };
      const options = { refresh: false } as const;
      const written = found
        ? await this.#documents.replace(found, document, options)
        : await this.#documents.create(ID, document, options);
      return written ? true : undefined;
    }).then(() => undefined);
  }
}
