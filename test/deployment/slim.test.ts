import { expect } from 'chai';
import { runServer } from '../support/server-process.js';
import { slim } from '../support/slim.js';
import { tempFolder } from '../support/temp-folder.js';

describe('An installation without optional packages', () => {
  it('says what to set when the settings name no servers', async () => {
    const folder = tempFolder();
    const { code, errors } = await runServer({ dataDir: folder, environment: slim });
    expect(code).to.equal(1);
    expect(errors).to.match(/^This installation is without .* set ELASTICSEARCH_URL and CLICKHOUSE_URL.*\n$/);
  });

  it('says what the Model Context Protocol needs', async () => {
    const { code, errors } = await runServer({
      dataDir: '/proc/nowhere',
      args: ['mcp'],
      environment: { ...slim, REACHLINE_API_KEY: 'key' },
    });
    expect(code).to.equal(1);
    expect(errors).to.match(/^MCP needs .*npm install @modelcontextprotocol\/server\.\n$/);
  });
});
