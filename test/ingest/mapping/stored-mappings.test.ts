import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseMappingFile } from '../../../ingest/mapping/mapping-file.js';
import { readMappings } from '../../../ingest/mapping/stored-mappings.js';
import { PRESETS } from '../../../ingest/presets/index.js';
import { namedMappings } from '../../../ingest/presets/named-mappings.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('Stored mappings', () => {
  let folder: string;
  beforeEach(() => {
    folder = tempFolder();
  });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

  it('are the files of a folder, by name, and none without a folder', () => {
    write('crm.json', '{"stream":"contacts","fields":{"contact_id":"id"}}');
    write('README.md', 'notes');
    const stored = readMappings(folder);
    expect([...stored.keys()]).to.deep.equal(['crm']);
    expect(stored.get('crm')?.stream.name).to.equal('contacts');
    expect(readMappings(join(folder, 'none')).size).to.equal(0);
    expect(() => readMappings(join(folder, 'none'), { isRequired: true })).to.throw(/REACHLINE_MAPPINGS/);
  });

  it('name the file that cannot be used, and why', () => {
    for (const [name, text, problem] of [
      ['a.json', '{"fields":{}}', /a\.json: stream: is required/],
      ['A b.json', '{"stream":"contacts","fields":{}}', /A b\.json: its name must be/],
      [
        'b.json',
        '{"stream":"contacts","fields":{"fist_name":"a"}}',
        /b\.json: fields\.fist_name: .*first_name\?/,
      ],
      ['c.json', `"${'x'.repeat(300_000)}"`, /c\.json: .*262144 bytes/],
    ] as const) {
      write(name, text);
      expect(() => readMappings(folder), name).to.throw(problem);
      rmSync(join(folder, name));
    }
  });

  it('that come with Reachline can be used', () => {
    for (const preset of Object.values(PRESETS)) parseMappingFile(JSON.stringify(preset));
    const mappings = namedMappings({ dataDir: folder, mappingsDir: null });
    for (const { stream, mapping } of mappings.values()) {
      expect(mapping.givesOrganization([]), stream.name).to.equal(false);
    }
    write('crm.json', '{"stream":"contacts","fields":{"contact_id":"id"}}');
    expect(namedMappings({ dataDir: '', mappingsDir: folder }).size).to.equal(mappings.size + 1);
  });
});
