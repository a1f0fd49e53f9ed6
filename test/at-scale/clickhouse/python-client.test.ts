import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { TODAY } from '../../advertising/helper.js';
import { openSampleEndpoint, PASSWORD, type SampleEndpoint } from '../../sql-endpoint/sample-endpoint.js';
import { pythonPackage } from '../../stack/distributions.js';
import { MissingPrerequisite } from '../../stack/stack-error.js';

const SCRIPT = join(packageRoot, 'test/at-scale/clickhouse/python-client.py');

describe('the official Python client at the SQL endpoint', () => {
  let endpoint: SampleEndpoint;
  let answers: Record<string, unknown>;

  before(async function () {
    let folder: string;
    try {
      folder = await pythonPackage('clickhouse-connect', '1.12.0');
    } catch (error) {
      if (!(error instanceof MissingPrerequisite)) throw error;
      process.stdout.write(`  skipped: ${error.message}\n`);
      return this.skip();
    }
    endpoint = await openSampleEndpoint(TODAY);
    const { stdout } = await promisify(execFile)('python3', [SCRIPT, endpoint.url, PASSWORD], {
      env: { ...process.env, PYTHONPATH: folder, TZ: 'America/New_York' },
    });
    answers = JSON.parse(stdout);
  });
  after(() => endpoint?.close());

  it('reads rows in their own types, with parameters', () => {
    expect(answers).to.deep.include({
      timezone: 'UTC',
      columns: ['date', 'campaign_id', 'ad_spend', 'impressions'],
      types: ['date', 'str', 'Decimal', 'int'],
      parameters: [[["it's", 'b\\'], null, "a\tb\n'é"]],
    });
    expect(answers.first).to.include.members(['2026-11-01', 'cam_001']);
  });

  it('streams rows, lists the views and takes other formats', () => {
    expect(answers).to.deep.include({
      streamed: [200_000, (200_000 * 199_999) / 2],
      tables: [
        'audiences',
        'campaign_daily',
        'campaigns',
        'companies',
        'company_daily',
        'contacts',
        'creative_daily',
        'creatives',
        'memberships',
        'website_visits',
      ],
      command: 90,
      parquet: 'PAR1',
    });
  });

  it('raises a DatabaseError for a rejected statement', () => {
    const [insert, rows, file, password] = answers.rejections as string[];
    expect(insert).to.match(/^DatabaseError: .*code: 164/);
    expect(rows).to.match(/^DatabaseError: /);
    expect(file).to.match(/^DatabaseError: .*code: 497/);
    expect(password).to.match(/^DatabaseError: .*code: 516/);
  });
});
