import { expect } from 'chai';
import {
  type Change,
  type ChangesPage,
  type ChangesRequest,
  DeliveryError,
  followChanges,
  type Message,
} from '../../../services/cli/changes/follow-changes.js';
import type { ChangesState } from '../../../services/cli/changes/state-file.js';
import { ReachlineProblem } from '../../../services/client/problems.js';
import { createLogger } from '../../../services/shared/logger.js';
import { Random, runs, SEED } from '../../support/random.js';

class Killed extends Error {}

/** A feed as contract 3.18 defines it: each contact stands once, and a run from the beginning leaves out what is gone. */
class ModelFeed {
  readonly #contacts = new Map<string, { number: number; value: string | null }>();
  #number = 0;
  epoch = 1;

  write(id: string, value: string | null): void {
    if (value === null && !this.#contacts.has(id)) return;
    this.#contacts.delete(id);
    this.#contacts.set(id, { number: ++this.#number, value });
  }

  present(): Map<string, string> {
    return new Map([...this.#contacts].flatMap(([id, { value }]) => (value === null ? [] : [[id, value]])));
  }

  read({ cursor, limit }: ChangesRequest): ChangesPage {
    const position = { epoch: this.epoch, after: 0, start: this.#number };
    if (cursor) Object.assign(position, JSON.parse(cursor ?? ''));
    if (position.epoch !== this.epoch) {
      throw new ReachlineProblem(410, { code: 'cursor_expired' } as never);
    }
    const rest = [...this.#contacts].filter(([, { number }]) => number > position.after);
    const page = rest
      .filter(([, { number, value }]) => value !== null || number > position.start)
      .slice(0, limit ?? 100);
    const more = page.length === limit;
    const after = more ? (page.at(-1)?.[1].number ?? 0) : this.#number;
    const changes = page.map(([contact_id, { value }]) =>
      value === null ? { contact_id, state: 'absent' } : { contact_id, state: 'present', contact: { value } },
    ) as unknown as Change[];
    return { changes, next_cursor: JSON.stringify({ ...position, after }), more };
  }
}

/** A receiver that does what the guide says: it handles each id once, and drops what a complete run did not have. */
class ModelReceiver {
  readonly #contacts = new Map<string, { value: string; run: string }>();
  readonly contentOf = new Map<string, string>();
  completed = 0;

  accept({ id, content }: Message): void {
    const text = JSON.stringify(content);
    const before = this.contentOf.get(id);
    if (before !== undefined) {
      expect(before, 'one id, one content').to.equal(text);
      return;
    }
    this.contentOf.set(id, text);
    const { contact_id, contact } = content.data as { contact_id: string; contact: { value: string } };
    if (content.type === 'contact.present')
      this.#contacts.set(contact_id, { value: contact.value, run: content.run });
    else if (content.type === 'contact.absent') this.#contacts.delete(contact_id);
    else {
      this.completed++;
      for (const [key, { run }] of this.#contacts) if (run !== content.run) this.#contacts.delete(key);
    }
  }

  present = () => new Map([...this.#contacts].map(([id, { value }]) => [id, value]));
}

describe('reachline changes', () => {
  it('leaves the receiver with what is stored, wherever the process is killed and a message or its answer is lost', async () => {
    let restarts = 0;
    let expired = 0;
    for (let seed = 0; seed < runs(500); seed++) {
      const random = new Random(SEED * 100_000 + seed);
      const feed = new ModelFeed();
      const receiver = new ModelReceiver();
      let faults = random.below(16);
      const fails = (probability: number) => faults > 0 && random.chance(probability) && faults-- > 0;
      const disturb = () => {
        while (faults > 0 && random.chance(0.4)) {
          feed.write(random.pick(['a', 'b', '__proto__']), random.pick(['1', '2', null]));
        }
        if (fails(0.03)) {
          feed.epoch++;
          expired++;
        }
      };
      let saved: ChangesState | undefined;
      const file = {
        get state() {
          return saved;
        },
        save(state: ChangesState) {
          if (fails(0.1)) throw new Killed();
          saved = JSON.parse(JSON.stringify(state)) as ChangesState;
          if (fails(0.1)) throw new Killed();
          return state;
        },
      };
      const run = () =>
        followChanges({
          organizationId: 'org_a',
          read: async (request) => {
            disturb();
            return feed.read(request);
          },
          sink: {
            batchSize: random.pick([1, 1, 3]),
            pageSize: random.pick([1, 2, 4]),
            async deliver(messages) {
              disturb();
              if (fails(0.1)) throw new DeliveryError('lost on the way');
              for (const message of messages) {
                if (messages.length === 1) receiver.accept(message);
                else receiver.accept({ ...message, id: `${message.id}/${JSON.stringify(message.content)}` });
              }
              const isLost = fails(0.15);
              const isKilled = fails(0.1);
              disturb();
              if (isLost) throw new DeliveryError('answer lost');
              if (isKilled) throw new Killed();
            },
            close: () => undefined,
          },
          file,
          logger: createLogger('silent'),
          pollMs: 5000,
          once: true,
          signal: new AbortController().signal,
          sleep: async () => disturb(),
        });
      for (const id of ['a', 'b']) feed.write(id, '1');
      for (;;) {
        const isCalm = faults === 0;
        try {
          await run();
          if (isCalm) break;
          disturb();
          faults = random.below(3);
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
          restarts++;
        }
      }
      expect([...receiver.present()].sort(), `seed ${seed}`).to.deep.equal([...feed.present()].sort());
      expect(receiver.completed).to.be.at.least(1);
    }
    expect(restarts).to.be.above(runs(250));
    expect(expired).to.be.above(runs(12));
  });
});
