import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import { Random, runs, SEED } from '../../support/random.js';
import { KILL_POINTS, startKilled } from './kill-points.js';
import { expectPoisonRejected, withPoison } from './poison.js';
import { histories, STREAMS, useWorkers } from './workers.js';

const COUNT = runs(8000);
const KILLS = runs(1);

describe(`a worker killed at named points, ${KILLS} times each (TEST_SEED=${SEED})`, function () {
  this.timeout(3_600_000);
  const test = useWorkers();

  it('loses no record, and adds none', async () => {
    const { topics, workers } = test;
    const random = new Random(SEED);
    const history = histories(random, COUNT);
    const sent = STREAMS.map((stream) => withPoison(random, history[stream].records));
    const poison = sent.flat().filter(({ headers }) => headers).length;
    const kills = KILL_POINTS.flatMap((point) => Array.from({ length: KILLS }, () => point));
    const pieces = inPieces(sent, 2 * kills.length + 1);
    const produce = async () => {
      const piece = pieces.shift();
      if (!piece)
        throw new Error('the records are too few for so many kills; TEST_RUNS_FACTOR multiplies them');
      for (const [index, stream] of STREAMS.entries()) await topics.produce(stream, piece[index] ?? []);
    };

    for (const [index, point] of kills.entries()) {
      // Every second write is killed before it has begun.
      const inFlightMs = index % 2 === 0 ? 0 : 1 + random.below(20);
      const worker = startKilled(workers, STREAMS, {
        TEST_KILL_AT: point,
        TEST_KILL_AFTER: String(1 + random.below(3)),
        TEST_KILL_IN_FLIGHT_MS: String(inFlightMs),
      });
      await produce();
      while (!worker.hasEnded()) {
        if (await allTaken()) await produce();
        await pause(50);
      }
      const ended = await worker.ended;
      expect(ended, `${point}: ${worker.output()}`).to.deep.equal({ code: null, signal: 'SIGKILL' });
    }

    await workers.start();
    while (pieces.length > 0) await produce();
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    await expectPoisonRejected(topics, poison);
  });

  async function allTaken(): Promise<boolean> {
    const behind = await Promise.all(STREAMS.map((stream) => test.topics.behind(stream)));
    return behind.every((records) => records === 0);
  }
});

/** The records of every stream, divided into `count` pieces. */
function inPieces(sent: readonly OutgoingRecord[][], count: number): OutgoingRecord[][][] {
  return Array.from({ length: count }, (_, piece) =>
    sent.map((records) => {
      const at = (part: number) => Math.floor((records.length * part) / count);
      return records.slice(at(piece), at(piece + 1));
    }),
  );
}
