import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deadLetterTopicOf } from '../../ingest/sources/kafka/topics.js';
import { STREAMS } from '../../ingest/streams/index.js';
import { PERSONAL_DATA, type Place, WITHOUT_PERSONS } from '../../services/contacts/personal-data.js';
import { packageRoot } from '../../services/shared/fs.js';
import { sql } from '../../services/shared/sql.js';
import { RESOURCES } from '../../services/stores/elasticsearch/migrations/indices.js';
import { openDatabase } from '../../services/stores/sqlite/database.js';
import { tempFolder } from '../support/temp-folder.js';

describe('The register of personal data', () => {
  it('has every table of an embedded store, or says that it holds no person', async () => {
    const connection = await openDatabase(tempFolder(), 8);
    const tables = connection
      .rows<[string]>(sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .flat()
      // FTS5 keeps an index in tables named after it.
      .filter((name) => !/_terms_\w+$/.test(name));
    connection.close();
    const known = Object.values(PERSONAL_DATA).flatMap((place) => ('sqlite' in place ? place.sqlite : []));
    const names: string[] = [...known, ...WITHOUT_PERSONS.sqlite];
    expect(tables.filter((name) => !names.includes(name))).to.deep.equal([]);
    expect(new Set(names).size).to.equal(names.length);
  });

  const namesIn = (kind: 'elasticsearch' | 'clickhouse' | 'kafka'): string[] =>
    Object.values(PERSONAL_DATA).flatMap((place: Place) => place[kind] ?? []);

  it('has every index of Elasticsearch, or says that it holds no person', () => {
    const names = [...namesIn('elasticsearch'), ...WITHOUT_PERSONS.elasticsearch];
    expect(names.sort()).to.deep.equal([...RESOURCES].sort());
  });

  it('has every table of ClickHouse, or says that it holds no person', () => {
    const folder = join(packageRoot, 'mappings/clickhouse');
    const files = readdirSync(folder).filter((file) => /^\d/.test(file));
    const tables = files.flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return Array.from(
        text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g),
        (match) => match[1] as string,
      );
    });
    expect([...namesIn('clickhouse'), ...WITHOUT_PERSONS.clickhouse].sort()).to.deep.equal(tables.sort());
  });

  it('has the topics of each stream whose records name persons', () => {
    const known = namesIn('kafka');
    const personal = Object.keys(STREAMS).filter((stream) => known.includes(stream));
    expect(personal).to.deep.equal(['contacts']);
    expect(known.sort()).to.deep.equal(personal.flatMap((topic) => [topic, deadLetterTopicOf(topic)]));
  });

  it('is what the page for operators shows, row by row', () => {
    const page = readFileSync(join(packageRoot, 'docs/operating/personal-data.md'), 'utf8');
    const [, table = ''] = page.split(
      '| what it holds | how it is removed | until when it may stay |\n|---|---|---|\n',
    );
    const rows = table.split('\n\n')[0]?.split('\n');
    const places = Object.values(PERSONAL_DATA);
    expect(rows).to.deep.equal(
      places.map(({ holds, removal, until }) => `| ${holds} | ${removal} | ${until} |`),
    );
  });
});
