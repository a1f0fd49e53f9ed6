import { toxiproxyProgram } from './distributions.js';
import { freePort } from './free-port.js';
import { type Server, startServer } from './server.js';
import { makeServerFolder } from './server-folder.js';

/** What a proxy does to connections, those that are open already too. `downstream` is towards the client. */
export interface Toxic {
  type: 'latency' | 'bandwidth' | 'reset_peer' | 'timeout' | 'limit_data';
  stream: 'upstream' | 'downstream';
  attributes: Record<string, number>;
}

/** One address through which another is reached. */
export interface NetworkProxy {
  /** `host:port` */
  address: string;
  apply(toxics: readonly Toxic[]): Promise<void>;
  /** Leaves the network as it is. */
  clear(): Promise<void>;
}

/** Proxies that make networks fail. They end with this process. */
export interface Toxiproxy {
  proxy(upstream: string, port?: number): Promise<NetworkProxy>;
  remove(): Promise<void>;
}

/** Throws `MissingPrerequisite` where it cannot be had. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const command = await toxiproxyProgram();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const server: Server = await startServer({
    name: 'toxiproxy',
    address,
    folder: makeServerFolder('toxiproxy'),
    command,
    args: ['-host', '127.0.0.1', '-port', String(port)],
    environment: {},
    user: null,
    answers: async () => (await fetch(`${address}/version`)).ok,
  });
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${address}${path}`, { method, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`toxiproxy: ${method} ${path}: ${await response.text()}`);
  };
  let made = 0;
  return {
    async proxy(upstream, listenPort) {
      const name = `proxy${made++}`;
      const listen = `127.0.0.1:${listenPort ?? (await freePort())}`;
      await call('POST', '/proxies', { name, listen, upstream, enabled: true });
      let applied: string[] = [];
      return {
        address: listen,
        async apply(toxics) {
          for (const toxic of toxics) {
            const toxicName = `${toxic.type}-${toxic.stream}`;
            await call('POST', `/proxies/${name}/toxics`, { name: toxicName, ...toxic });
            applied.push(toxicName);
          }
        },
        async clear() {
          for (const toxic of applied) await call('DELETE', `/proxies/${name}/toxics/${toxic}`);
          applied = [];
        },
      };
    },
    remove: () => server.remove(),
  };
}
