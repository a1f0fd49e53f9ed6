import type { Actor } from './scheduler.js';

/** A member's place in the group, since it joined last. */
export interface Member {
  actor: Actor;
  generation: number;
  partitions: number[];
  /** Virtual time of its last heartbeat. */
  seenAt: number;
}

/** What the brokers know of a consumer group: members, who has which partition, and the committed offsets. */
export class Group {
  readonly committed: number[];
  generation = 0;
  #members: Member[] = [];
  readonly #sessionMs: number;

  constructor(partitions: number, sessionMs: number) {
    this.committed = Array.from({ length: partitions }, () => 0);
    this.#sessionMs = sessionMs;
  }

  /** A member that is known learns what it has now; with another the partitions are shared out anew. */
  join(actor: Actor, now: number): Readonly<Member> {
    this.expire(now);
    let member = this.#members.find((candidate) => candidate.actor === actor);
    if (!member) {
      member = { actor, generation: 0, partitions: [], seenAt: now };
      this.#members.push(member);
      this.rebalance();
    }
    member.seenAt = now;
    return { ...member };
  }

  /** Shares the partitions out anew. Those that had them before hear of it with their next heartbeat or commit. */
  rebalance(): void {
    this.generation++;
    const partitions = this.committed.map((_, partition) => partition);
    for (const [index, member] of this.#members.entries()) {
      member.generation = this.generation;
      member.partitions = partitions.filter((partition) => partition % this.#members.length === index);
    }
  }

  /** Ends the sessions of members that were silent for too long. */
  expire(now: number): void {
    const alive = this.#members.filter(({ seenAt }) => now - seenAt < this.#sessionMs);
    if (alive.length === this.#members.length) return;
    this.#members = alive;
    this.rebalance();
  }

  /** False when the member has to join again. */
  heartbeat(actor: Actor, generation: number, now: number): boolean {
    this.expire(now);
    const member = this.#members.find((candidate) => candidate.actor === actor);
    if (!member || generation !== this.generation) return false;
    member.seenAt = now;
    return true;
  }

  /** False when the generation of the member is over. */
  commit(actor: Actor, generation: number, partition: number, offset: number, now: number): boolean {
    if (!this.heartbeat(actor, generation, now)) return false;
    this.committed[partition] = offset;
    return true;
  }
}
