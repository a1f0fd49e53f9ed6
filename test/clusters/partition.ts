import { execFileSync } from 'node:child_process';
import type { Server } from '../stack/server.js';

/** A server, and the port on which the other members of its cluster reach it. */
export interface Member {
  server: Server;
  port: number;
}

/**
 * Drops all packets between one server and the other members of its cluster; its clients still reach it. Returns a function that ends this.
 */
export function cutOff(one: Member, others: readonly Member[]): () => void {
  const rule = ({ server }: Member, to: readonly Member[]) => [
    'OUTPUT',
    ...['-p', 'tcp', '-m', 'multiport', '--dports', to.map(({ port }) => port).join(',')],
    ...['-m', 'owner', '--uid-owner', String(server.user?.uid), '-j', 'DROP'],
  ];
  const rules = [rule(one, others), ...others.map((other) => rule(other, [one]))];
  const heal = () => {
    process.off('exit', heal);
    for (const each of rules.splice(0)) iptables('-D', ...each);
  };
  process.once('exit', heal);
  for (const each of rules) iptables('-A', ...each);
  return heal;
}

/** Firewall rules need root and `iptables`. */
export function canCutOff(): boolean {
  try {
    iptables('-L', 'OUTPUT');
    return true;
  } catch {
    return false;
  }
}

function iptables(...args: string[]): void {
  execFileSync('iptables', ['-w', ...args], { stdio: 'pipe' });
}
