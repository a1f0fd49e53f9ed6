import { expect } from 'chai';
import { type FilterToSave, MAX_FILTERS } from '../../services/saved-filters/saved-filter-store.js';
import { useOpened } from '../support/opened.js';
import { freshOrganization, type Open, T0 } from './record-store-support.js';

export function recordStoreSavedFilters(open: Open): void {
  describe('saved filters', () => {
    const opened = useOpened(() => open());
    const germans = { view: 'contacts', name: 'Germans', filter: { country: 'DE' }, replace: true } as const;
    const stored = ({ replace: _, ...filter }: FilterToSave, times: object) => ({ ...filter, ...times });
    const at = (time: number) => new Date(time).toISOString();

    it('are listed by name, of one view of one organization', async () => {
      const [organization, other] = [freshOrganization(), freshOrganization()];
      const filters: [FilterToSave, FilterToSave, FilterToSave, FilterToSave] = [
        germans,
        { ...germans, name: 'Ärzte', filter: { any_of: [{ job_title: 'a"\'b' }] } },
        { ...germans, name: 'A', filter: {} },
        { ...germans, view: 'visits', filter: { browser: 'x' } } as const,
      ];
      for (const filter of filters) await opened.store.saveFilter(organization, filter, T0);
      await opened.store.saveFilter(other, { ...germans, filter: { country: 'FR' } }, T0);
      const times = { created_at: at(T0), updated_at: at(T0) };
      expect(await opened.store.listFilters(organization, 'contacts')).to.deep.equal(
        [filters[2], filters[0], filters[1]].map((filter) => stored(filter, times)),
      );
      expect(await opened.store.listFilters(organization, 'visits')).to.deep.equal([
        stored(filters[3], times),
      ]);
      expect(await opened.store.listFilters(organization, 'audiences')).to.deep.equal([]);
      expect(await (await opened.another()).listFilters(other, 'contacts')).to.have.lengthOf(1);
    });

    it('are replaced under the same name, and say what they replaced', async () => {
      const organization = freshOrganization();
      const first = await opened.store.saveFilter(organization, germans, T0);
      expect(first).to.deep.include({ kind: 'saved', replaced: null });
      const next = { ...germans, filter: { country: 'AT' } };
      const before = stored(germans, { created_at: at(T0), updated_at: at(T0) });
      const filter = stored(next, { created_at: at(T0), updated_at: at(T0 + 1) });
      expect(await opened.store.saveFilter(organization, next, T0 + 1)).to.deep.equal({
        kind: 'saved',
        filter,
        replaced: before,
      });
      expect(await opened.store.listFilters(organization, 'contacts')).to.deep.equal([filter]);
    });

    it('are not replaced if the request forbids it, also if they are saved at once', async () => {
      const organization = freshOrganization();
      const save = (country: string) =>
        opened.store.saveFilter(organization, { ...germans, filter: { country }, replace: false }, T0);
      const outcomes = await Promise.all(['DE', 'FR', 'AT'].map(save));
      expect(outcomes.map(({ kind }) => kind).sort()).to.deep.equal([
        'filter_exists',
        'filter_exists',
        'saved',
      ]);
      const [saved] = outcomes.flatMap((outcome) => (outcome.kind === 'saved' ? [outcome.filter] : []));
      expect(await opened.store.listFilters(organization, 'contacts')).to.deep.equal([saved]);
      const visits = { ...germans, view: 'visits', replace: false } as const;
      expect((await opened.store.saveFilter(organization, visits, T0)).kind).to.equal('saved');
    });

    it('are deleted once', async () => {
      const [organization, other] = [freshOrganization(), freshOrganization()];
      await opened.store.saveFilter(organization, germans, T0);
      expect(await opened.store.deleteFilter(other, 'contacts', 'Germans')).to.equal(null);
      expect(await opened.store.deleteFilter(organization, 'visits', 'Germans')).to.equal(null);
      expect(await opened.store.deleteFilter(organization, 'contacts', 'Germans')).to.deep.include({
        name: 'Germans',
        filter: { country: 'DE' },
      });
      expect(await opened.store.deleteFilter(organization, 'contacts', 'Germans')).to.equal(null);
      expect(await opened.store.listFilters(organization, 'contacts')).to.deep.equal([]);
    });

    it('are bounded in number for each organization, also if they are saved at once', async () => {
      const organization = freshOrganization();
      const save = (number: number) =>
        opened.store.saveFilter(organization, { ...germans, name: `${number}` }, T0);
      const outcomes = await Promise.all(
        Array.from({ length: MAX_FILTERS + 2 }, (_, number) => save(number)),
      );
      expect(outcomes.filter(({ kind }) => kind === 'saved')).to.have.lengthOf(MAX_FILTERS);
      const filters = await opened.store.listFilters(organization, 'contacts');
      expect(filters).to.have.lengthOf(MAX_FILTERS);
      const { name } = filters[0] as { name: string };
      expect((await save(Number(name))).kind).to.equal('saved');
      expect((await save(MAX_FILTERS + 2)).kind).to.equal('too_many_filters');
      expect((await opened.store.saveFilter(freshOrganization(), germans, T0)).kind).to.equal('saved');
    });
  });
}
