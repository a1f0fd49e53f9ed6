import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { createProgram } from '../../services/cli/program.js';
import { packageRoot } from '../../services/shared/fs.js';
import { settingNames } from '../../services/shared/settings.js';

interface Container {
  image: string;
  args: string[];
  ports?: { containerPort: number }[];
  env?: { name: string }[];
  envFrom?: ({ configMapRef: { name: string } } | { secretRef: { name: string } })[];
  livenessProbe?: { httpGet: { path: string } };
  readinessProbe?: { httpGet: { path: string } };
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: {
    podSelector?: { matchLabels: Record<string, string> };
    policyTypes?: string[];
    ingress?: { from?: object[] }[];
    selector?: { matchLabels?: Record<string, string>; app?: string };
    template?: { metadata?: { labels: Record<string, string> }; spec: { containers: Container[] } };
  };
}

const FOLDER = join(packageRoot, 'deploy/kubernetes');

describe('deploy/kubernetes', () => {
  for (const name of readdirSync(FOLDER)) {
    describe(name, () => {
      const manifests = parseAllDocuments(readFileSync(join(FOLDER, name), 'utf8')).map((document) => {
        expect(document.errors).to.deep.equal([]);
        return document.toJS() as Manifest;
      });
      const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
      it('sets settings there are', () => {
        const names = [
          ...manifests.flatMap(({ data, stringData }) => Object.keys({ ...data, ...stringData })),
          ...containers.flatMap(({ env = [] }) => env.map((each) => each.name)),
        ];
        expect(names).not.to.deep.equal([]);
        expect([...settingNames]).to.include.members(names);
      });

      it('refers to what it defines', () => {
        const defined = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
        const sources = containers.flatMap(({ envFrom = [] }) => envFrom);
        expect(defined).to.include.members(
          sources.map((source) =>
            'secretRef' in source
              ? `Secret ${source.secretRef.name}`
              : `ConfigMap ${source.configMapRef.name}`,
          ),
        );
        const labels = manifests.map(({ spec }) => spec?.template?.metadata?.labels.app);
        const selected = manifests.map(({ spec }) => spec?.selector?.app ?? spec?.selector?.matchLabels?.app);
        expect(labels).to.include.members(selected.filter((app) => app !== undefined));
      });

      it('lets nobody but named namespaces connect to servers that trust the addresses of all pods', () => {
        const servers = manifests.flatMap(({ spec }) => {
          const { metadata, spec: pod } = spec?.template ?? {};
          return pod?.containers.some(({ args }) => args[0] === 'serve') ? [metadata?.labels.app] : [];
        });
        const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
        expect(policies.map(({ spec }) => spec?.podSelector?.matchLabels.app)).to.deep.equal(servers);
        for (const { spec } of policies) {
          expect(spec?.policyTypes).to.deep.equal(['Ingress']);
          expect(spec?.ingress).not.to.deep.equal([]);
          for (const { from } of spec?.ingress ?? []) expect(from ?? []).not.to.deep.equal([]);
        }
      });

      it('runs commands there are, and neither restarts nor unlists a gateway for its stores', () => {
        const { stdin, stdout, stderr } = process;
        const { commands } = createProgram({ stdin, stdout, stderr, env: {} }, () => undefined);
        expect(containers).not.to.deep.equal([]);
        for (const { args, livenessProbe, readinessProbe } of containers) {
          expect(commands.map((command) => command.name())).to.include(args[0]);
          if (args[0] === 'migrate') continue;
          expect(livenessProbe?.httpGet.path).to.equal('/livez');
          // No Service sends requests to a worker.
          const ready = args[0] === 'serve' ? '/readyz/process' : '/readyz';
          expect(readinessProbe?.httpGet.path).to.equal(ready);
        }
      });
    });
  }
});
