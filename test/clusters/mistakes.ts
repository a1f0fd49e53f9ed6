/** Mistakes of cluster operators, and what `doctor` must report for each. */
import { runProcess } from '../cli/support.js';
import type { Server } from '../stack/server.js';
import { until } from '../support/until.js';
import type { ClusterStack } from './cluster-stack.js';

interface Mistake {
  name: string;
  found: RegExp;
  /** Resolves with the settings for `doctor`, and with a function that repairs the mistake. */
  make(stack: ClusterStack): Promise<{ settings?: Record<string, string>; mend?(): Promise<unknown> }>;
}

/** Brokers notice a missing broker after seconds. */
const NOTICED = { pollMs: 1000, timeoutMs: 60_000 };

const MISTAKES: readonly Mistake[] = [
  {
    name: 'topics with one replica',
    found: /One broker of 3 has all records of a topic/,
    async make({ environment }) {
      const settings = { REACHLINE_TOPIC_PREFIX: 'single-', REACHLINE_TOPIC_REPLICAS: '1' };
      await command('migrate', { ...environment, ...settings });
      return { settings };
    },
  },
  {
    name: 'a broker away: replicas out of sync',
    found: /Replicas are not in sync/,
    make: ({ brokers }) => killed(brokers[2] as Server),
  },
  {
    name: 'a node away: yellow',
    found: /lacks copies of shards \(health yellow\)/,
    async make({ nodes, master }) {
      const elected = await master();
      return killed(nodes.find((node) => node !== elected) as Server);
    },
  },
  {
    name: 'one node of three in ELASTICSEARCH_URL',
    found: /ELASTICSEARCH_URL names one of 3 nodes/,
    make: async ({ nodes }) => ({ settings: { ELASTICSEARCH_URL: (nodes[0] as Server).address } }),
  },
  {
    name: 'a lock that is held for long',
    found: /The lock of migrations is held by process 1 on elsewhere/,
    async make({ search, elasticsearch }) {
      const index = `${elasticsearch.indexPrefix}-migrations`;
      const since = Date.now() - 600_000;
      const lease = { owner: `planted 1 ${since} elsewhere`, lease_until: Date.now() + 60_000 };
      const at = { index, id: 'rebuild' };
      const { _source: before } = await search.get<object>(at, { ignore: [404] });
      await search.index({ ...at, document: { ...before, ...lease }, refresh: true });
      return {
        mend: () => (before ? search.index({ ...at, document: before }) : search.delete(at)),
      };
    },
  },
  {
    name: 'writes blocked',
    found: /Writes are blocked, by a full disk or an operator: .*contacts/,
    async make({ search, elasticsearch }) {
      const block = (isBlocked: boolean) =>
        search.indices.putSettings({
          index: `${elasticsearch.indexPrefix}-contacts*`,
          settings: { 'index.blocks.read_only_allow_delete': isBlocked || null },
        });
      await block(true);
      return { mend: () => block(false) };
    },
  },
];

/** Mistakes of `doctor`: problems that it missed, and problems that do not exist. */
export async function checkDoctor(stack: ClusterStack): Promise<string[]> {
  const problems: string[] = [];
  const healthy = await command('doctor', stack.environment);
  if (!healthy.includes('All is well')) problems.push(`doctor finds fault with what is well: ${healthy}`);
  for (const { name, found, make } of MISTAKES) {
    const { settings, mend } = await make(stack);
    let output = '';
    const isFound = async () => {
      output = await command('doctor', { ...stack.environment, ...settings });
      return found.test(output);
    };
    await until(isFound, name, NOTICED).catch(() => problems.push(`doctor does not find ${name}: ${output}`));
    await mend?.();
    console.log(`${name}: ${output.split('\n').find((line) => found.test(line))}`);
    await stack.healed();
  }
  return problems;
}

async function killed(server: Server) {
  await server.kill();
  return { mend: () => server.start() };
}

/** Resolves with everything that the command prints, whatever its exit code. */
async function command(name: string, env: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await runProcess([name], { env });
  return stdout + stderr;
}
