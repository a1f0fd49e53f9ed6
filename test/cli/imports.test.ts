import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../support/temp-folder.js';
import { run, serve } from './support.js';

const ORGANIZATION = ['--organization', 'org_i'];

describe('The commands for imports', function () {
  this.timeout(60_000);
  let env: Record<string, string>;
  let file: string;
  const command = (...args: string[]) => run([...args, ...ORGANIZATION], { env });

  before(async () => {
    const folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data') };
    file = join(folder, 'list.csv');
    await writeFile(file, 'contact_id,work_emails\na,a@acme.example\nb,b@acme.example\n');
    await command('audiences', 'create', '--name', 'Webinar', '--id', 'aud_webinar');
  });

  const story = async () => {
    const load = await command(
      ...['ingest', 'contacts', file, '--import', 'webinar', '--audience', 'aud_webinar'],
    );
    expect(load.code, load.stderr).to.equal(0);
    const listed = await command('imports', 'list', '--json');
    expect(JSON.parse(listed.stdout)).to.include({
      import_id: 'webinar',
      contacts_count: 2,
      unchanged_count: 2,
    });
    expect((await command('imports', 'list')).stdout).to.match(
      /^IMPORT +TIME +CONTACTS +UNCHANGED\nwebinar /,
    );
    const undone = await command('imports', 'undo', 'webinar');
    expect(undone.stdout, undone.stderr).to.equal('2 deleted, 0 left because they have changed.\n');
    const none = await command('imports', 'list');
    expect(none).to.include({ code: 0, stdout: '' });
    expect(none.stderr).to.match(/^(The server at .*\n)?No import has contacts\.\n$/);
  };

  it('load a list into an audience, list the import and undo it in a data folder', story);

  it('do the same through a server', async () => {
    const served = await serve([], { env });
    try {
      await story();
    } finally {
      await served.stop();
    }
  });

  it('store nothing for an unknown audience, and take contacts only', async () => {
    const unknown = await command('ingest', 'contacts', file, '--audience', 'nowhere');
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include('The organization has no audience nowhere.');
    const missing = await run(['ingest', 'contacts', file, '--audience', 'aud_webinar'], { env });
    expect(missing.code, missing.stderr).to.equal(2);
    const foreign = `${file}.other.csv`;
    await writeFile(foreign, 'organization_id,contact_id\norg_other,c\n');
    const rejected = await command('ingest', 'contacts', foreign, '--audience', 'aud_webinar');
    expect(rejected.stdout, rejected.stderr).to.include('0 accepted, 1 rejected');
    const other = await command('ingest', 'audiences', file, '--import', 'webinar');
    expect(other.code).to.equal(2);
    expect(other.stderr).to.include('--import is for contacts. Leave it out for audiences.');
    expect((await command('imports', 'list')).stdout).to.equal('');
  });
});
