import { expect } from 'chai';
import { ConfigError, loadConfig } from '../../services/shared/config.js';

const problemsOf = (environment: Record<string, string>): string[] => {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
};

/** Variables that Kubernetes sets in a pod next to a Service `reachline` with the named port `http`. */
const SERVICE_LINKS = {
  REACHLINE_SERVICE_HOST: '10.96.0.7',
  REACHLINE_SERVICE_PORT: '8080',
  REACHLINE_SERVICE_PORT_HTTP: '8080',
  REACHLINE_PORT: 'tcp://10.96.0.7:8080',
  REACHLINE_PORT_8080_TCP: 'tcp://10.96.0.7:8080',
  REACHLINE_PORT_8080_TCP_PROTO: 'tcp',
  REACHLINE_PORT_8080_TCP_PORT: '8080',
  REACHLINE_PORT_8080_TCP_ADDR: '10.96.0.7',
};

describe('The configuration', () => {
  it('lists the problems of all settings at once', () => {
    const problems = problemsOf({ PORT: 'abc', ELASTICSEARCH_URL: 'foo', KAFKA_BROKERS: ':::' });
    expect(problems).to.have.lengthOf(3);
    expect(problems.join('\n')).to.match(
      /^PORT is "abc" .*\nELASTICSEARCH_URL .*9200\nKAFKA_BROKERS holds ":::".*9092$/,
    );
  });

  it('skips rules that depend on an invalid setting', () => {
    const problems = problemsOf({ REACHLINE_SQL_PORT: 'x', CLICKHOUSE_URL: 'http://127.0.0.1:8123' });
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]).to.match(/^REACHLINE_SQL_PORT is "x"/);
  });

  it('names the usual port of the store in a problem with its address', () => {
    expect(problemsOf({ CLICKHOUSE_URL: 'clickhouse' })[0]).to.contain('http://127.0.0.1:8123');
    expect(problemsOf({ ELASTICSEARCH_URL: 'elasticsearch' })[0]).to.contain('http://127.0.0.1:9200');
  });

  it('spreads an organization over fewer shards than there are', () => {
    const layout = (shards: string, perOrganization: string) => ({
      ELASTICSEARCH_URL: 'http://a:9200',
      ELASTICSEARCH_SHARDS: shards,
      ELASTICSEARCH_SHARDS_PER_ORGANIZATION: perOrganization,
    });
    for (const many of ['3', '4']) {
      expect(problemsOf(layout('3', many))).to.deep.equal([
        'ELASTICSEARCH_SHARDS_PER_ORGANIZATION is more than 1 and not below ELASTICSEARCH_SHARDS',
      ]);
    }
    expect(problemsOf(layout('1', '1'))).to.deep.equal([]);
    expect(loadConfig(layout('6', '3')).elasticsearch).to.include({ shards: 6, shardsPerOrganization: 3 });
  });

  it('takes several servers of ClickHouse as replicas of a cluster only', () => {
    const several = { CLICKHOUSE_URL: 'http://a:8123, http://b:8123', ELASTICSEARCH_URL: 'http://a:9200' };
    expect(problemsOf(several)[0]).to.contain('name their cluster with CLICKHOUSE_CLUSTER');
    const { clickhouse } = loadConfig({ ...several, CLICKHOUSE_CLUSTER: 'main' });
    expect(clickhouse?.urls).to.deep.equal(['http://a:8123', 'http://b:8123']);
  });

  it('takes replicas of ClickHouse with Elasticsearch only', () => {
    const urls = 'http://a:8123, http://b:8123';
    const [problem] = problemsOf({ CLICKHOUSE_URL: urls, CLICKHOUSE_CLUSTER: 'main' });
    expect(problem).to.contain('set ELASTICSEARCH_URL too');
    expect(problemsOf({ CLICKHOUSE_URL: 'http://a:8123' })).to.deep.equal([]);
  });

  it('rejects a database in which another deployment keeps its tables or copies', () => {
    for (const database of ['main_tables', 'main_copies']) {
      const [problem, ...others] = problemsOf({ CLICKHOUSE_DATABASE: database });
      expect(problem).to.match(/^CLICKHOUSE_DATABASE ends in _tables or _copies: .*Choose another name$/);
      expect(others).to.deep.equal([]);
    }
    expect(problemsOf({ CLICKHOUSE_DATABASE: 'tables_main' })).to.deep.equal([]);
  });

  for (const origin of [
    'x y',
    '*',
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
  ]) {
    it(`rejects the origin ${JSON.stringify(origin)}, which no browser sends`, () => {
      const problems = problemsOf({ REACHLINE_CORS_ORIGINS: `https://a.example.com,${origin}` });
      expect(problems).to.have.lengthOf(1);
      expect(problems[0])
        .to.contain(JSON.stringify(origin))
        .and.match(/such as https:\/\/app\.example\.com$/);
    });
  }

  it('accepts origins as browsers send them', () => {
    const origins = ['https://app.example.com', 'http://localhost:5173', 'chrome-extension://abcdef'];
    expect(loadConfig({ REACHLINE_CORS_ORIGINS: origins.join(', ') }).corsOrigins).to.deep.equal(origins);
  });

  it('ignores and lists the variables that Kubernetes sets for a Service called reachline', () => {
    const { ignoredVariables, port } = loadConfig({ ...SERVICE_LINKS, PORT: '9000' });
    expect(ignoredVariables).to.deep.equal(Object.keys(SERVICE_LINKS).sort());
    expect(port).to.equal(9000);
  });

  it('ignores the address of a Service in a variable named like a setting', () => {
    const links = { REACHLINE_WORKER_PORT: 'tcp://10.96.0.8:8081', REACHLINE_SQL_PORT: 'tcp://10.96.0.9:80' };
    const { workerPort, ignoredVariables } = loadConfig(links);
    expect(workerPort).to.equal(8081);
    expect(ignoredVariables).to.have.members(Object.keys(links));
    expect(loadConfig({ REACHLINE_WORKER_PORT: '9081' }).workerPort).to.equal(9081);
  });

  it('rejects a misspelt setting and suggests the right one', () => {
    expect(problemsOf({ REACHLINE_RATELIMIT: '5' })).to.deep.equal([
      'REACHLINE_RATELIMIT is not a setting of Reachline. Did you mean REACHLINE_RATE_LIMIT?',
    ]);
    expect(problemsOf({ REACHLINE_DATADIR: '/srv' })[0]).to.match(/Did you mean REACHLINE_DATA_DIR\?$/);
    expect(problemsOf({ REACHLINE_KAFKA_BROKERS: 'k:9092' })[0]).to.match(/Did you mean KAFKA_BROKERS\?$/);
  });

  it('ignores and lists a name that is similar to no setting', () => {
    const names = { REACHLINE_IMAGE_TAG: '1.2', REACHLINE_TLS: 'on', REACHLINE_SPEED: '9' };
    expect(loadConfig(names).ignoredVariables).to.deep.equal(Object.keys(names).sort());
  });
});
