import { expect } from 'chai';
import { sql } from '../../../../services/shared/sql.js';
import { CONTACT_COLUMNS } from '../../../../services/stores/sqlite/contacts/indexed-contact.js';
import { openDatabase } from '../../../../services/stores/sqlite/database.js';
import {
  hasRemovals,
  mergeSegments,
  SegmentRewrite,
} from '../../../../services/stores/sqlite/text/text-index.js';
import { WriteSession } from '../../../../services/stores/sqlite/writes/write-session.js';
import { Random, runs, SEED } from '../../../support/random.js';
import { tempFolder } from '../../../support/temp-folder.js';

describe('The rewrite of the segments of a text index', function () {
  this.timeout(120_000);

  it(`leaves no word of a removed row, whatever segments there were (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const connection = await openDatabase(tempFolder(), 8);
    const session = new WriteSession(connection);
    const live = new Map<bigint, string>();
    const gone: string[] = [];
    let rows = 0n;
    const columnsOf = (word: string) => CONTACT_COLUMNS.map((_, index) => (index === 0 ? `1:${word}` : ''));
    const drawWord = () =>
      Array.from({ length: 14 }, () => String.fromCharCode(97 + random.below(26))).join('');
    const change = () => {
      const changes = session.indexChanges('contact_terms', CONTACT_COLUMNS);
      for (let left = 1 + random.below(random.pick([3, 40])); left > 0; left--) {
        const row = random.pick([...live.keys(), rows]);
        const before = live.get(row);
        if (before === undefined) {
          live.set(rows, drawWord());
          changes.add(rows, columnsOf(live.get(rows) as string));
          rows++;
          continue;
        }
        gone.push(before);
        live.delete(row);
        if (random.chance(0.5)) changes.remove(row, columnsOf(before));
        else {
          live.set(row, drawWord());
          changes.replace(row, columnsOf(before), columnsOf(live.get(row) as string));
        }
        session.applyIndexChanges();
      }
    };
    for (let round = 0; round < runs(60); round++) {
      for (let left = random.below(12); left > 0; left--) {
        session.transaction(change);
        if (random.chance(0.3)) mergeSegments(connection, 'contact_terms');
      }
      const removed = [...gone];
      const rewrite = new SegmentRewrite(connection, 'contact_terms');
      while (!rewrite.step()) if (random.chance(0.2)) session.transaction(change);
      const blocks = connection
        .rows<[Uint8Array]>(sql`SELECT block FROM contact_terms_data`)
        .map(([block]) => Buffer.from(block).toString('latin1'));
      const left = removed.filter((word) => blocks.some((block) => block.includes(word.slice(-9))));
      expect(left, `round ${round}`).to.deep.equal([]);
      if (gone.length === removed.length) expect(hasRemovals(connection, 'contact_terms')).to.equal(false);
    }
    const found = sql`SELECT rowid FROM contact_terms WHERE contact_terms MATCH ?`;
    for (const [row, word] of live) expect(connection.rows(found, `"1:${word}"`)).to.deep.equal([[row]]);
    connection.close();
  });
});
