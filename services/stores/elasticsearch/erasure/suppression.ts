/** The suppression list, one document per hash, and the secret for the hashes. */
import { randomBytes } from 'node:crypto';
import type { ErasureProof } from '../../../contacts/erasure-store.js';
import { type Identifier, identifierHash, SECRET_BYTES } from '../../../contacts/suppression.js';
import { type Documents, documentId } from '../documents.js';
import { totalHits } from '../pages.js';
import { retryWithBackoff } from '../retry.js';
import type { ForceMerge, ShardNumbers } from './expunge.js';

export interface ErasureWork {
  named: readonly Identifier[];
  /**
   * When a process did the last step, in milliseconds since the epoch. For a while after that, other processes leave the erasure to this
   * process.
   */
  stepped_at: number;
}

export interface DeletedMarksSource {
  /** Marks from before this time may be gone, in milliseconds since the epoch. */
  before: number;
  /** Whether marks of erased contacts are being deleted. */
  is_deleting?: boolean;
  /** The last operations of the shards when marks of erased contacts were deleted. Removed once a force merge has dropped their bytes. */
  up_to?: ShardNumbers;
}

/** A document of the index: the secret, a suppressed hash, an erasure, the force merge for all erasures, or the deleted marks. */
export interface ErasureSource {
  organization_id?: string;
  secret?: string;
  hash?: string;
  /** Milliseconds since the epoch. */
  requested_at?: number;
  proof_id?: string;
  /** Whether bytes of erased contacts may be left. */
  pending?: boolean;
  /** Ids of the contacts found so far. Removed once only bytes of these contacts are left. */
  contact_ids?: string[];
  /** Remaining work. Removed once only bytes of the contacts are left. */
  work?: ErasureWork;
  /** Time at which only bytes of the contacts were left, in milliseconds since the epoch. */
  deleted_at?: number;
  /** The last operations of the shards at `deleted_at`. */
  deleted_up_to?: ShardNumbers;
  proof?: ErasureProof;
  /** Present only in the documents `expunge` and `deleted-marks`. */
  expunge?: {
    /** When the next force merge may begin. */
    next_at?: number;
    /** The running force merge. */
    merge?: ForceMerge;
    deleted_marks?: DeletedMarksSource;
  };
}

const SECRET_ID = 'secret';
/** The identifying fields of a person in a record. */
export interface Person {
  organizationId: string;
  identifiers: readonly Identifier[];
}

/**
 * The suppression list. Looks up hashes by id, which finds every acknowledged hash, and caches nothing: a look-up after a write sees every
 * erasure that did not find the write.
 */
export class SuppressionList {
  readonly #documents: Documents<ErasureSource>;
  #secret: string | undefined;

  constructor(documents: Documents<ErasureSource>) {
    this.#documents = documents;
  }

  /** The keys of persons with a suppressed identifier. Evaluates no person before the first erasure. */
  async suppressed<Key, State>(
    states: ReadonlyMap<Key, State>,
    personOf: (key: Key, state: State) => Person,
  ): Promise<Set<Key>> {
    const secret = states.size > 0 ? await this.#readSecret() : undefined;
    if (secret === undefined) return new Set();
    const hashes = [...states].flatMap(([key, state]) => {
      const { organizationId, identifiers } = personOf(key, state);
      return identifiers.map((each) => ({
        key,
        id: documentId(organizationId, identifierHash(secret, organizationId, each)),
      }));
    });
    const found = await this.#documents.getMany([...new Map(hashes.map((each) => [each.id, each])).values()]);
    return new Set(hashes.flatMap(({ key, id }) => (found.has(id) ? [key] : [])));
  }

  /** Whether an erasure will still search for contacts. Recorded, and visible to searches, before the erasure suppresses anything. */
  async isErasing(organizationId: string): Promise<boolean> {
    const filter = [{ term: { organization_id: organizationId } }, { term: { pending: true } }];
    const query = { bool: { filter, must_not: { exists: { field: 'deleted_at' } } } };
    const { hits } = await this.#documents.search({ size: 0, terminate_after: 1, query });
    return totalHits(hits) > 0;
  }

  async includes(person: Person): Promise<boolean> {
    return (await this.suppressed(new Map([['', person]]), () => person)).size > 0;
  }

  async hashesOf(organizationId: string, identifiers: readonly Identifier[]): Promise<string[]> {
    const secret = (await this.#readSecret()) ?? (await this.#createSecret());
    return identifiers.map((each) => identifierHash(secret, organizationId, each));
  }

  async add(organizationId: string, hashes: readonly string[]): Promise<void> {
    await this.#documents.writeMany(
      hashes.map((hash) => ({
        id: documentId(organizationId, hash),
        json: () => JSON.stringify({ organization_id: organizationId, hash }),
      })),
    );
  }

  async #readSecret(): Promise<string | undefined> {
    this.#secret ??= (await this.#documents.get(SECRET_ID))?.source.secret;
    return this.#secret;
  }

  /** Creates the secret. If several processes create one, the first decides. */
  #createSecret(): Promise<string> {
    return retryWithBackoff(async () => {
      const secret = randomBytes(SECRET_BYTES).toString('hex');
      await this.#documents.create(SECRET_ID, { secret }, { refresh: false });
      return this.#readSecret();
    });
  }
}
