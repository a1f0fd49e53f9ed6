/** Metrics that SQL and the console list by hand, against the table of metrics. */
import { expect } from 'chai';
import {
  isMoney,
  METRIC_NAMES,
  RATE_NAMES,
  RATES,
  SUMMED_METRICS,
  SUMMED_NAMES,
  type SummedMetric,
} from '../../services/advertising/metrics.js';
import { METRICS } from '../../services/console/metrics.js';
import type { ClickHouse } from '../../services/stores/clickhouse/client.js';
import { migrate } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { rawSql } from '../support/raw-sql.js';
import { tempFolder } from '../support/temp-folder.js';

const counts = SUMMED_NAMES.filter((name) => !isMoney(name));

describe('A metric', () => {
  /** Asks an engine after every migration, whichever file wrote a column. */
  let clickhouse: ClickHouse;
  const ask = async <Row>(statement: string) =>
    (await clickhouse.query<Row>({ name: 'test', sql: rawSql(statement), params: {} })).rows;
  before(async () => {
    clickhouse = await openClickHouse({ path: tempFolder() });
    await migrate(clickhouse);
  });
  after(() => clickhouse.close());

  it('is a column of every table and view of deliveries, where it is described as in the API', async () => {
    const rows = await ask<{ place: string; column: SummedMetric; comment: string }>(
      "SELECT database || '.' || table AS place, name AS column, comment FROM system.columns WHERE database IN ('default', 'reachline')",
    );
    const declared = rows
      .filter(({ column }) => column === 'impressions')
      .map(({ place }) => [place, rows.filter((each) => each.place === place)] as const);
    expect(declared.length).to.be.at.least(9);
    for (const [name, columns] of declared) {
      const described = new Map(columns.map(({ column, comment }) => [column, comment]));
      const expected = described.has('ad_spend') ? SUMMED_NAMES : counts;
      expect([...described.keys()], name).to.include.members([...expected]);
      for (const metric of name.startsWith('reachline.') ? expected : [])
        expect(described.get(metric), `${name}.${metric}`).to.equal(
          SUMMED_METRICS[metric].description.slice(0, -1),
        );
    }
  });

  it('makes a company active, each of them', async () => {
    const [view] = await ask<{ as_select: string }>(
      "SELECT as_select FROM system.tables WHERE database = 'default' AND name = 'company_deliveries_mv'",
    );
    const [conditions = ''] = /[^\n]* AS active/.exec(view?.as_select ?? '') ?? [];
    const active = [...conditions.matchAll(/(\w+) > 0/g)].map(([, name]) => name);
    expect(active).to.have.members([...SUMMED_NAMES]);
  });

  it('has the kind and, for a rate, the formula in the console that it has in the API', () => {
    expect(Object.keys(METRICS)).to.have.members([...METRIC_NAMES]);
    for (const name of SUMMED_NAMES) expect(METRICS[name].kind, name).to.equal(SUMMED_METRICS[name].kind);
    for (const name of RATE_NAMES) {
      const { numerator, denominator, factor } = RATES[name];
      expect(METRICS[name], name).to.include({ numerator, denominator, factor });
    }
  });
});
