/** Faults of clusters, and what clients may see of each fault. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from '../stack/server.js';
import type { ClusterStack } from './cluster-stack.js';
import { canCutOff, cutOff, type Member } from './partition.js';
import type { Kind } from './traffic.js';

export interface Fault {
  name: string;
  /** Whether the fault is part of the short form. */
  isShort?: true;
  /** Whether this machine can cause it. */
  needs?(): boolean;
  /** Requests that may fail with 503 within seconds. All others must get 200. */
  fails: readonly Kind[];
  /** Breaks something for `milliseconds`, and repairs it. */
  run(stack: ClusterStack, milliseconds: number): Promise<void>;
}

const others = (servers: readonly Server[], one: Server) => servers.filter((each) => each !== one);
const killed = async (servers: readonly Server[], milliseconds: number) => {
  await Promise.all(servers.map((each) => each.kill()));
  await pause(milliseconds);
  await Promise.all(servers.map((each) => each.start()));
};
const frozen = async (server: Server, milliseconds: number) => {
  server.freeze();
  await pause(milliseconds).finally(() => server.thaw());
};

/** The chosen node and the other two do not reach each other. Clients reach all three. */
const cutOffFromOthers = async (
  stack: ClusterStack,
  milliseconds: number,
  chosen: (server: Server, master: Server) => boolean,
) => {
  const master = await stack.master();
  const members = await stack.members();
  const one = members.find(({ server }) => chosen(server, master)) as Member;
  const heal = cutOff(
    one,
    members.filter((member) => member !== one),
  );
  await pause(milliseconds).finally(heal);
};

export const FAULTS: readonly Fault[] = [
  {
    name: 'one node killed',
    isShort: true,
    fails: ['create'],
    async run({ nodes, master }, milliseconds) {
      await killed(others(nodes, await master()).slice(0, 1), milliseconds);
    },
  },
  {
    name: 'the master killed',
    fails: ['create'],
    run: async ({ master }, milliseconds) => killed([await master()], milliseconds),
  },
  {
    name: 'a primary killed',
    isShort: true,
    fails: ['create'],
    run: async ({ primary }, milliseconds) => killed([await primary()], milliseconds),
  },
  {
    name: 'one node frozen',
    isShort: true,
    fails: ['create'],
    async run({ nodes, master }, milliseconds) {
      const [node] = others(nodes, await master());
      await frozen(node as Server, milliseconds);
    },
  },
  {
    name: 'the master frozen',
    fails: ['create'],
    run: async ({ master }, milliseconds) => frozen(await master(), milliseconds),
  },
  {
    name: 'no master',
    // Shards that only the two hung nodes hold cannot be read; with two replicas, every shard can be read.
    fails: ['read', 'create'],
    async run({ nodes, master }, milliseconds) {
      const elected = await master();
      for (const node of others(nodes, elected)) node.freeze();
      await pause(milliseconds).finally(() => {
        for (const node of others(nodes, elected)) node.thaw();
      });
    },
  },
  {
    name: 'one node cut off',
    fails: ['create'],
    needs: canCutOff,
    run: (stack, milliseconds) => cutOffFromOthers(stack, milliseconds, (one, master) => one !== master),
  },
  {
    name: 'the master cut off',
    fails: ['create'],
    needs: canCutOff,
    run: (stack, milliseconds) => cutOffFromOthers(stack, milliseconds, (one, master) => one === master),
  },
  {
    name: 'a broker killed',
    isShort: true,
    // May fail for seconds, until the others have noticed.
    fails: ['ingest'],
    run: async ({ brokers }, milliseconds) => killed(brokers.slice(2), milliseconds),
  },
  {
    name: 'a broker frozen',
    fails: ['ingest'],
    run: async ({ brokers }, milliseconds) => frozen(brokers[2] as Server, milliseconds),
  },
  {
    name: 'two brokers killed',
    fails: ['ingest'],
    run: async ({ brokers }, milliseconds) => killed(brokers.slice(1), milliseconds),
  },
];
