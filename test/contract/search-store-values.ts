import { useOpened } from '../support/opened.js';
import { findsOf, type Open } from './search-support.js';

export function searchStoreValues(open: Open): void {
  describe('values that are written in several ways (contract 3.8, 3.9)', () => {
    const opened = useOpened(() => open());

    findsOf(
      opened,
      'a country by code and name',
      [
        ['cd', 'CD'],
        ['vn', 'VN'],
        ['viet', 'Viet Nam'],
        ['vietnam', 'Vietnam'],
        ['us', 'US'],
        ['uk', 'United Kingdom'],
        ['other', 'Atlantis'],
      ].map(([contact_id = '', country]) => ({ contact_id, country, job_title: 'Designer' })),
      [
        [{ country: 'congo, the democratic republic of the' }, ['cd']],
        [{ country: 'Viet Nam' }, ['vn', 'viet', 'vietnam']],
        [{ country: 'atlantis' }, ['other']],
        [{ query: 'UK designer' }, ['uk']],
        [{ query: '"united states"' }, ['us']],
        [{ query: 'viet nam' }, ['vn', 'viet', 'vietnam']],
        [{ query: 'designer -usa -uk -vnm -congo' }, ['other']],
      ],
    );

    findsOf(
      opened,
      'a postal code in the query',
      [
        { contact_id: 'everett', postal_code: '98201-1234' },
        { contact_id: 'london', postal_code: 'SW1A 1AA' },
        { contact_id: 'tokyo', postal_code: '１００−０００１' },
      ],
      [
        [{ query: '9820' }, ['everett']],
        [{ query: '98201-1234' }, ['everett']],
        [{ query: 'SW1A1AA' }, ['london']],
        [{ query: '"1aa"' }, ['london']],
        [{ query: '100-0001' }, ['tokyo']],
        [{ query: '98202' }, []],
      ],
    );

    findsOf(
      opened,
      'a phone number',
      [
        { contact_id: 'extension', phones: ['+1 (202) 555-0147 ext. 12'] },
        { contact_id: 'london', phones: ['+44 (0)20 7946 0958'] },
        { contact_id: 'prefixed', phones: ['0044 20 7946 0959'] },
        { contact_id: 'arabic', phones: ['٠١٢٣٤٥٦٧٨٩'] },
      ],
      [
        [{ query: '+1 202 555 0147' }, ['extension']],
        [{ query: '120255501' }, ['extension']],
        [{ query: '+44 20 7946 0958' }, ['london']],
        [{ query: '+44 (0)20 7946 0959' }, ['prefixed']],
        [{ query: '٠١٢٣٤٥٦٧٨٩' }, ['arabic']],
        [{ query: '202555014712' }, []],
        [{ query: '5550147' }, ['extension']],
        [{ query: '550147' }, []],
        [{ query: '+1 (202) 555-0147 ext. 99' }, ['extension']],
        [{ query: '202 555 0' }, ['extension']],
        [{ query: '44 20 79' }, ['london', 'prefixed']],
        [{ query: '"202 555 0147"' }, ['extension']],
        [{ query: '-"+44 20 7946 0958" -0123456789' }, ['extension', 'prefixed']],
      ],
    );

    findsOf(
      opened,
      'a number of words of digits',
      [
        { contact_id: 'both', job_title: 'Route 66', postal_code: '98201', phones: ['555 6698'] },
        { contact_id: 'together', job_title: 'Agent 6698201' },
      ],
      [
        [{ query: '66 98201' }, ['both', 'together']],
        [{ query: '98201 66' }, ['both']],
        [{ query: '55566' }, ['both']],
      ],
    );

    findsOf(
      opened,
      'an address in Unicode, punycode or percent-encoding',
      [
        {
          contact_id: 'unicode',
          company_domain: 'münchen.example',
          network_a_url: 'https://n.example/in/jörg-m',
        },
        {
          contact_id: 'encoded',
          company_domain: 'https://www.XN--MNCHEN-3YA.example/',
          network_a_url: 'n.example/in/j%C3%B6rg-m/',
        },
        { contact_id: 'ascii', company_domain: 'munchen.example', network_a_url: 'n.example/in/jorg-m' },
        { contact_id: 'cyrillic', company_domain: 'пример.рф', job_title: 'Site www.senate.gov' },
        { contact_id: 'email', work_emails: ['jörg@müller.example'] },
      ],
      [
        [{ company_domain: 'xn--mnchen-3ya.example' }, ['unicode', 'encoded']],
        [{ company_domain: 'munchen.example' }, ['ascii']],
        [{ network_a_url: 'https://n.example/in/j%c3%b6rg-m?a=1' }, ['unicode', 'encoded']],
        [{ network_a_url: 'jörg-m' }, ['unicode', 'encoded']],
        [{ email: 'JÖRG@xn--mller-kva.example' }, ['email']],
        [{ query: 'xn--mnchen-3ya.example' }, ['unicode', 'encoded', 'ascii']],
        [{ query: 'xn--e1afmkfd.xn--p1ai' }, ['cyrillic']],
        [{ query: 'https://www.senate.gov/about?a=b' }, ['cyrillic']],
        [{ query: 'https://www.n.example/in/j%C3%B6rg-m?trk=1' }, ['unicode', 'encoded', 'ascii']],
        [{ query: 'https://n.example/in/jorg-x' }, []],
        [{ query: 'jorg@xn--mller-kva.example' }, ['email']],
        [{ query: '"jörg@müller.example"' }, ['email']],
        [{ query: 'senate -jörg@müller.example' }, ['cyrillic']],
        [{ query: '-jörg@müller.example -münchen.example' }, ['cyrillic']],
      ],
    );
  });
}
