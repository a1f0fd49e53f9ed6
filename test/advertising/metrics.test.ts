/** Metrics that SQL and the console list by hand, against the table of metrics. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { packageRoot } from '../../services/shared/fs.js';

const FOLDER = join(packageRoot, 'mappings/clickhouse');
const sql = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
  .join('\n');

const counts = SUMMED_NAMES.filter((name) => !isMoney(name));

/** Names, columns with their comments, and whether they have money, of every table and view that declares a metric. */
const declared = [
  ...sql.matchAll(/CREATE (?:TABLE|VIEW) IF NOT EXISTS (?<name>\S+)\n\((?<columns>[\s\S]*?)\n\)/g),
]
  .map(({ groups: { name = '', columns = '' } = {} }) => ({
    name,
    columns: new Map(
      [...columns.matchAll(/^ {4}(\w+) \w[^\n]*?(?: COMMENT '([^\n]*)')?,?$/gm)].map(
        ([, column, comment]) => [column as SummedMetric, comment],
      ),
    ),
  }))
  .filter(({ columns }) => columns.has('impressions'));

describe('A metric', () => {
  it('is a column of every table and view of deliveries, where it is described as in the API', () => {
    expect(declared.length).to.be.at.least(9);
    for (const { name, columns } of declared) {
      const expected = columns.has('ad_spend') ? SUMMED_NAMES : counts;
      expect([...columns.keys()], name).to.include.members([...expected]);
      for (const metric of name.includes('views') ? expected : [])
        expect(columns.get(metric), `${name}.${metric}`).to.equal(
          SUMMED_METRICS[metric].description.slice(0, -1),
        );
    }
  });

  it('makes a company active, each of them', () => {
    const [, conditions = ''] = /AND \(\n([\s\S]*?)\) AS active/.exec(sql) ?? [];
    const active = [...conditions.matchAll(/delivery\.(\w+) > 0/g)].map(([, name]) => name);
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
