import type { Actor } from './scheduler.js';

/** A member of the group, with its assignment since it last joined. */
export interface Member {
  actor: Actor;
  generation: number;
  partitions: number[];
  /** Virtual time of its last heartbeat. */
  seenAt: number;
}

/** `rebalancing`: the group waits for its members to join again, and takes commits of their batches until they have. */
export type HeartbeatResult = 'ok' | 'rebalancing' | 'unknown member';

/** The state of a consumer group in the brokers: its members, their partitions, and the committed offsets. */
export class Group {
  readonly committed: number[];
  generation = 0;
  #members: Member[] = [];
  /** The rebalance in progress: the members that have joined again, and when it stops waiting for the others. */
  #rebalance: { joined: Set<Actor>; until: number } | null = null;
  readonly #sessionMs: number;
  readonly #rebalanceMs: () => number;

  /** `rebalanceMs` says how long a rebalance waits for the members to join again. */
  constructor(partitions: number, sessionMs: number, rebalanceMs: () => number) {
    this.committed = Array.from({ length: partitions }, () => 0);
    this.#sessionMs = sessionMs;
    this.#rebalanceMs = rebalanceMs;
  }

  /** Null while the group waits for other members: then the member joins again later. */
  join(actor: Actor, now: number): Readonly<Member> | null {
    this.#advance(now);
    let member = this.#find(actor);
    if (!member) {
      member = { actor, generation: 0, partitions: [], seenAt: now };
      this.#members.push(member);
      this.rebalance(now);
    }
    member.seenAt = now;
    this.#rebalance?.joined.add(actor);
    this.#advance(now);
    return this.#rebalance ? null : { ...member };
  }

  /** Starts to assign the partitions anew. Members notice with their next heartbeat. */
  rebalance(now: number): void {
    this.#rebalance ??= { joined: new Set(), until: now + this.#rebalanceMs() };
  }

  heartbeat(actor: Actor, generation: number, now: number): HeartbeatResult {
    this.#advance(now);
    const member = this.#find(actor);
    if (!member || generation !== this.generation) return 'unknown member';
    member.seenAt = now;
    return this.#rebalance ? 'rebalancing' : 'ok';
  }

  /** False when the generation of the member is over. */
  commit(actor: Actor, generation: number, partition: number, offset: number, now: number): boolean {
    if (this.heartbeat(actor, generation, now) === 'unknown member') return false;
    this.committed[partition] = offset;
    return true;
  }

  #find(actor: Actor): Member | undefined {
    return this.#members.find((candidate) => candidate.actor === actor);
  }

  /** Ends the sessions of silent members, and the rebalance once every member has joined or its time is over. */
  #advance(now: number): void {
    const alive = this.#members.filter(({ seenAt }) => now - seenAt < this.#sessionMs);
    if (alive.length < this.#members.length) {
      this.#members = alive;
      this.rebalance(now);
    }
    const rebalance = this.#rebalance;
    if (!rebalance) return;
    const joined = this.#members.filter(({ actor }) => rebalance.joined.has(actor));
    if (joined.length < this.#members.length && now < rebalance.until) return;
    this.#members = joined;
    this.#rebalance = null;
    this.generation++;
    for (const [index, member] of joined.entries()) {
      member.generation = this.generation;
      member.partitions = [...this.committed.keys()].filter(
        (partition) => partition % joined.length === index,
      );
    }
  }
}
