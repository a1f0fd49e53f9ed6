import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

interface Request {
  user: string;
  method: string;
  path: string;
  body: string;
}

const ADMIN = { username: 'root', password: 'toor' };
const ACCOUNT = { username: 'reachline', password: 'its own' };

/** Records the requests to a server and their users. The server accepts only `root`, so the command ends after it has created the user. */
describe('reachline migrate --bootstrap', function () {
  this.timeout(60_000);
  let folder: string;
  let server: Server;
  let requests: Request[];
  let status: number;
  beforeEach(async () => {
    folder = tempFolder();
    requests = [];
    status = 200;
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const [user = '', password] = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64')
        .toString()
        .split(':');
      requests.push({ user, method: request.method ?? '', path: request.url ?? '', body });
      const known = user === ADMIN.username && password === ADMIN.password;
      response.setHeader('X-Elastic-Product', 'Elasticsearch');
      response.setHeader('Content-Type', 'application/json');
      if (!known) response.setHeader('X-ClickHouse-Exception-Code', '516');
      const rejection = request.url?.startsWith('/_')
        ? '{"error":{"type":"security_exception"},"status":401}'
        : 'Code: 516. DB::Exception: no. (AUTHENTICATION_FAILED)';
      response.writeHead(known ? status : 401).end(known ? '{}' : rejection);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
  });

  const settings = (prefix: string, admin: Partial<typeof ADMIN> = ADMIN, account = ACCOUNT) => ({
    REACHLINE_DATA_DIR: join(folder, 'data'),
    [`${prefix}_URL`]: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [`${prefix}_USERNAME`]: account.username,
    [`${prefix}_PASSWORD`]: account.password,
    [`${prefix}_ADMIN_USERNAME`]: admin.username ?? '',
    [`${prefix}_ADMIN_PASSWORD`]: admin.password ?? '',
  });
  const bootstrap = (env: Record<string, string>) => run(['migrate', '--bootstrap'], { env });

  it('makes a role for the indices of the prefix and a user of it, and goes on as that user', async () => {
    const { stderr } = await bootstrap({ ...settings('ELASTICSEARCH'), ELASTICSEARCH_INDEX_PREFIX: 'rl' });
    expect(stderr).to.contain('Elasticsearch has the user reachline.');
    const byAdmin = requests.filter(({ user }) => user === ADMIN.username);
    expect(
      byAdmin.map(({ method, path, body }) => [method, path, JSON.parse(body) as unknown]),
    ).to.deep.equal([
      [
        'PUT',
        '/_security/role/rl',
        { cluster: ['monitor'], indices: [{ names: ['rl-*'], privileges: ['read', 'write', 'manage'] }] },
      ],
      [
        'PUT',
        '/_security/user/reachline',
        { password: ACCOUNT.password, roles: ['rl'], full_name: 'Reachline' },
      ],
    ]);
    const others = requests.slice(byAdmin.length);
    expect(others).not.to.have.lengthOf(0);
    for (const { user } of others) expect(user).to.equal(ACCOUNT.username);
  });

  it('makes a user of ClickHouse with grants on its databases, and goes on as that user', async () => {
    const { stderr } = await bootstrap(settings('CLICKHOUSE'));
    expect(stderr).to.contain('ClickHouse has the user reachline.');
    const statements = requests.filter(({ user }) => user === ADMIN.username).map(({ body }) => body.trim());
    expect(
      statements.map((text) => /^(CREATE USER|ALTER USER|GRANT .* ON \w+\.[\w*]+ TO)/.exec(text)?.[1]),
    ).to.deep.equal([
      'CREATE USER',
      'ALTER USER',
      'GRANT SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON reachline_tables.* TO',
      'GRANT SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON reachline_copies.* TO',
      'GRANT SELECT, CREATE DATABASE, CREATE VIEW, DROP VIEW ON reachline.* TO',
      'GRANT SELECT ON system.parts TO',
    ]);
    expect(requests.slice(statements.length).map(({ user }) => user)).to.include(ACCOUNT.username);
  });

  for (const prefix of ['ELASTICSEARCH', 'CLICKHOUSE']) {
    it(`says which settings of ${prefix} are missing, before it asks anything`, async () => {
      for (const [env, message] of [
        [settings(prefix, {}), `needs ${prefix}_ADMIN_USERNAME`],
        [
          settings(prefix, ADMIN, { username: 'reachline', password: '' }),
          `with ${prefix}_PASSWORD: set both`,
        ],
        [settings(prefix, ADMIN, { username: 'a`b', password: 'x' }), 'begins with a letter'],
        [settings(prefix, ADMIN, ADMIN), `${prefix}_USERNAME is the administrator`],
      ] as const) {
        const { code, stderr } = await bootstrap(env);
        expect(code, message).to.equal(2);
        expect(stderr).to.contain(message);
      }
      expect(requests).to.deep.equal([]);
    });

    it(`says that the administrator of ${prefix} is not let in`, async () => {
      const { code, stderr } = await bootstrap(settings(prefix, { ...ADMIN, password: 'wrong' }));
      expect(code).to.equal(1);
      expect(stderr).to.match(/does not allow root to create users \((401|516)\): check its password/);
    });
  }

  it('says that Elasticsearch runs without security', async () => {
    status = 400;
    const { code, stderr } = await bootstrap(settings('ELASTICSEARCH'));
    expect(code).to.equal(1);
    expect(stderr).to.contain('xpack.security.enabled');
  });

  it('is rejected where the stores are embedded', async () => {
    const { code, stderr } = await bootstrap({ REACHLINE_DATA_DIR: join(folder, 'data') });
    expect(code).to.equal(2);
    expect(stderr).to.contain('--bootstrap is for stores on servers');
  });
});
