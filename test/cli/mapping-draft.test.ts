/** Drafts mappings for exports without a preset (test/data/presets/unknown), and tries them with --dry-run. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

const DATA = 'test/data/presets/unknown';

describe('A draft of a mapping', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = tempFolder();
  });

  for (const name of readdirSync(DATA)) {
    const [source = '', stream = ''] = name.split('.');
    it(`of ${source} loads every record`, async () => {
      const file = join(DATA, name);
      const ingest = (...options: string[]) =>
        run(['ingest', stream, file, '--organization', 'org_a', '--dry-run', ...options]);
      const unknown = await ingest('--preset', 'auto');
      expect(unknown.stderr).to.contain(`reachline mapping draft ${file} --stream ${stream}`);
      const draft = await run(['mapping', 'draft', file, '--stream', stream]);
      expect(draft.code, draft.stderr).to.equal(0);
      const path = join(folder, `${source}.json`);
      writeFileSync(path, draft.stdout);
      const tried = await ingest('--map', path);
      expect(tried.code, `${draft.stdout}\n${tried.stderr}`).to.equal(0);
      expect(tried.stdout).to.match(/ 0 rejected/);
    });
  }

  const draftOf = async (stream: string, csv: string) => {
    const file = join(folder, 'export.csv');
    writeFileSync(file, csv);
    const { stdout, stderr } = await run(['mapping', 'draft', file, '--stream', stream]);
    return { fields: JSON.parse(stdout).fields, stderr };
  };

  it('takes a column that has the name of a field before one of which a part has it', async () => {
    const { fields } = await draftOf('contacts', 'Owner.id,Person Id,E-Mail\no1,p1,a@x.example\n');
    expect(fields.contact_id).to.equal('Person Id');
  });

  it('asks what tells rows of a day apart, of which otherwise the last alone would count', async () => {
    const { fields, stderr } = await draftOf(
      'network-a-deliveries',
      'Day,Campaign ID,Group,Cost\n2026-10-05,7,A,1.50\n2026-10-05,7,B,2.50\n',
    );
    expect(fields.creative_id).to.equal('TODO');
    expect(stderr).to.contain('TODO creative_id: rows have the same day and campaign');
  });

  it('names the command that reads the file as the draft did', async () => {
    const file = join(folder, 'western.txt');
    const text = 'Leads of the week\nPerson Id,E-Mail,Surname\np1,a@x.example,Müller\n';
    writeFileSync(file, Buffer.from(text, 'latin1'));
    const reading = ['--format', 'csv', '--charset', 'windows-1252', '--header-row', '2'];
    const draft = await run(['mapping', 'draft', file, '--stream', 'contacts', ...reading]);
    const path = join(folder, 'western.json');
    writeFileSync(path, draft.stdout);
    const command = /reachline (ingest contacts .+)$/m.exec(draft.stderr)?.[1]?.replace('<file>', path) ?? '';
    const tried = await run([...command.split(' '), '--organization', 'org_a']);
    expect(tried.code, `${command}\n${tried.stderr}`).to.equal(0);
    expect(tried.stdout).to.contain('Müller');
  });

  it('refuses a file without a name and an address of a person, and lists its columns', async () => {
    const file = join(folder, 'nobody.csv');
    writeFileSync(file, 'lead_id,status_label,notes\nl1,Qualified,hello\n');
    const { code, stdout, stderr } = await run(['mapping', 'draft', file, '--stream', 'contacts']);
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.contain('No column of nobody.csv looks like a name or an address of a person');
    expect(stderr).to.contain('lead_id, status_label, notes');
  });

  it('asks which events are visits, and says which columns a delivery cannot have', async () => {
    const events = await draftOf('website-visits', 'event,uuid,timestamp\n$pageview,1,1\nsign-up,2,2\n');
    expect(events.stderr).to.contain(
      'TODO where: every event becomes a visit; name the kinds of event that are visits, of "$pageview", "sign-up".',
    );
    const file = join(folder, 'report.csv');
    writeFileSync(
      file,
      'Datum;Enddatum;Kampagnen-ID;Platzierung;Kosten\n2026-10-05;2026-10-05;7;Feed;1,50\n',
    );
    const { stdout } = await run(['mapping', 'draft', file, '--stream', 'network-a-deliveries']);
    expect(JSON.parse(stdout)).to.deep.include({
      period: { start: 'Datum', end: 'Enddatum' },
      dimensions: { Platzierung: [] },
    });
  });
});
