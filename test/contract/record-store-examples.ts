import { expect } from 'chai';
import type { ContactRecord } from '../../services/contacts/schema.js';
import { searchContacts } from '../../services/contacts/search.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { useOpened } from '../support/opened.js';
import {
  asked,
  type Filters,
  fieldsOf,
  filtersOf,
  freshOrganization,
  load,
  type Open,
} from './record-store-support.js';

/**
 * By title, the contacts of an organization, each with the searches that find it, indented below, and after `nobody` those that find
 * none. A search is a query, or fields joined by `&`; it finds all contacts that it is named for, and no other.
 */
const EXAMPLES: Record<string, string> = {
  'the filters of each field': `
first_name=María José; last_name=O'Neill-Luján; job_title=Vice President, Data Engineering; city=São Paulo
functional_area=Engineering; company_name=Zürich Versicherung AG; state_region=Île-de-France
company_domain=https://WWW.Zurich.com:443/about?x=1; country=United States; postal_code=SW1A 2AA
network_a_url=https://www.network.example/in/Maria-Lujan/?trk=1#top; personal_emails=maria@home.example
work_emails=Maria.Lujan@Zurich.com, ml@zurich.com
  first_name=MARIA | first_name=mar | first_name=jose mar | last_name=lujan o neill | job_title=vice-pres eng
  seniority=vp | department=data & seniority=vp | state_region=ile france | functional_area=engin
  country=us | postal_code=sw1a2aa | network_a_url=http://network.example/in/maria-lujan
  email=maria.lujan@ZURICH.com | email=Maria@home.example | query=zurich & first_name=mar
first_name=Omar; country=USA; company_domain=mail.zurich.com; work_emails=omar@zurich.com
  country=us | company_domain=www.mail.zurich.com.
country=de; postal_code=sw1a2ab; network_a_url=fr.network.example/in/omar
  network_a_url=OMAR
city=Atlantis; country=Atlantis; company_domain=münchen.example; work_emails=jörg@müller.example
network_a_url=n.example/in/j%C3%B6rg-m/
  country=atlantis | company_domain=xn--mnchen-3ya.example | email=JÖRG@xn--mller-kva.example
  network_a_url=https://n.example/in/jörg-m?a=1 | network_a_url=jörg-m
nobody
  first_name=maria omar | first_name=marja | first_name=aria | last_name=maria | first_name=maria & city=lyon
  country=united | postal_code=SW1A | network_a_url=maria | email=maria | company_domain="'*) OR x:(
  company_domain=munchen.example | network_a_url=jorg-m`,

  'words, beginnings, typos, phrases and exclusions': `
first_name=María; last_name=Velázquez; job_title=Chief Data Officer; functional_area=Analytics
work_emails=maria.v@acme-corp.com; personal_emails=mv@home.example; phones=+1 (202) 224-3441, 425.303.0114
company_name=Acme Corporation; company_domain=acme-corp.com; network_a_url=https://network.example/in/mvelaz-77b/
city=New York; state_region=Texas; country=Mexico
  ve | v acme | maria acme texas | marla | velasques | "maria" | "new york" | york new | "acme corp com"
  "maria velazquez" | "Velázquez María" | "Velazquez, M." <maria.v@acme-corp.com> | "Velazquez, Maria" <old@acme.example>
  "Robert Alexander" <maria.v@acme-corp.com> | Velázquez's email | who is maria velazquez | https://jobs.acme-corp.com/de
  new -acm | maria.v@acme | 202-224-3441 | 2022243 | mvelaz | analytics | mx texas | mv@home.example
first_name=Robert; last_name=Alexander; company_name=York New Ventures
  ve | roebrt | "york new" | york new | new -acme | new -acm | york -"new york" | query=york & first_name=rob
first_name=R2d2abcd; last_name=Wu; phones=202 224 3442
  r2d2ab | 2022243 | -maria -robert
work_emails=first@one.example, second@two.example
  two.example | -maria -robert
first_name=東京; last_name=Ælfgifu Straße
  東京 | aelfgifu strasse | -maria -robert | -first@one.example -r2d2abcd -robert -maria
nobody
  other.com | jobs.other.com | y acme | maria zebra | nobert | "marla" | "mari" | "marla velazquez" | "example second" | 202-224-3443`,

  'a name, however it is written': `
first_name=Sandra; last_name=O'Connor
  O'Connor | oconnor | o connor | last_name=O'Connor | last_name=oconnor | last_name=o connor
first_name=Sinead; last_name=OConnor
  O'Connor | oconnor | o connor | last_name=O'Connor | last_name=oconnor | last_name=o connor
first_name=Alexandria; last_name=Ocasio-Cortez
  ocasio cortez | ocasiocortez | alexandria Ocasio-Cortez | last_name=ocasiocortez | last_name=Ocasio-Cortez
  a ocasio | A. Ocasio-Cortez
first_name=Chris; last_name=Van Hollen
  van Hollen | vanhollen | last_name=van Hollen | last_name=vanhollen
first_name=Kris; last_name=Vanhollen
  van Hollen | vanhollen | last_name=van Hollen | last_name=vanhollen
first_name=Олена; last_name=Соловʼяненко
  солов'яненко
first_name=Amy; last_name=Klobuchar
  amy k
first_name=Amy; last_name=Bera
  amy b
first_name=T. J.; last_name=Marlow
  tj marlow | T.J. Marlow | t j marlow | first_name=TJ
first_name=PJ; last_name=Quist
  p.j. quist | P. J. Quist
first_name=Ragnhild; last_name=O'Dwyer
  ragnhildodwyer | odwyerragnhild | ragnhildodw | ODwyerRagnhild
nobody
  jt marlow | ragnhildodwyex`,

  'names in all scripts': `
first_name=रीमा; last_name=ठाकुर
  रीमा
first_name=रोमा; last_name=ठाकुर
  रीमा
first_name=パナ; last_name=ヤマダ
  ﾊﾟﾅ
first_name=ﾊﾅ; last_name=ヤマダ
  first_name=ハナ | ハナ
first_name=静; last_name=李
  李静 | 李
first_name=美咲; last_name=鈴木
  鈴木美咲 | 美咲鈴
first_name=Ann; last_name=李
  李
first_name=Айгуль; last_name=Сатпаева
  сатпаеваайгуль | айгульсатпаева
first_name=สมศักดิ์; last_name=แสงทอง
  สมศักดิ์แสงทอง | คุณสมศักดิ์ | คุณสมศักดิ์แสงทอง
first_name=يُوسُف; last_name=الحَدّاد
  يوسف الحداد | first_name=يوسف | يُوسُف | يوســف
first_name=דָּוִד; last_name=אֲבְרָהָם
  דוד אברהם
company_name=南京星河科技有限公司
  星河科技 | 星河 | 南京星河 | company_name=河科 | 星河科技有限公司
company_name=株式会社ミドリ商会
  ミドリ商会 | みどり商会
first_name=志明; last_name=劉
  刘志明 | 劉志明 | last_name=刘
last_name=渡邊; city=臺北
  渡辺 | city=台北
last_name=ｻﾄｳ
  サトウ | さとう
nobody
  last_name=鈴木美咲 | 星科`,

  'numbers and addresses': `
postal_code=98201-1234; job_title=Route 66; phones=555 6698
  9820 | 98201-1234 | 55566 | 98201 66 | 66 98201
job_title=Agent 6698201
  66 98201
postal_code=SW1A 1AA; country=Viet Nam
  SW1A1AA | "1aa" | vnm 1aa | "viet nam"
postal_code=１００−０００１; country=CD
  100-0001 | congo -viet
phones=+1 (202) 555-0147 ext. 12
  +1 202 555 0147 | 120255501 | 5550147 | +1 (202) 555-0147 ext. 99 | 202 555 0 | "202 555 0147"
phones=+44 (0)20 7946 0958
  +44 20 7946 0958
phones=01273 555158
  +44 1273 555158 | 0044 1273 555158 | +441273555158 | "+44 1273 555158" | +44 (0)1273 555158 | 01273 555158
phones=8 (495) 777-45-67
  +7 495 777-45-67 | 8 495 7774567 | 84957774567
phones=(06 62) 541-280
  +36 62 541-280
phones=02 8646 3391
  +39 02 8646 3391
phones=86 12 44 70
  +45 86 12 44 70 | 004586124470
phones=+49 40 7770 4821
  040 7770 4821 | 04077704821 | 77704821
company_domain=münchen.example; network_a_url=https://n.example/in/jörg-m
  xn--mnchen-3ya.example | https://www.n.example/in/j%C3%B6rg-m?trk=1
company_domain=пример.рф; job_title=Site www.senate.gov
  xn--e1afmkfd.xn--p1ai | https://www.senate.gov/about?a=b | senate -jörg@müller.example
work_emails=jörg@müller.example
  jorg@xn--mller-kva.example | "jörg@müller.example"
first_name=Ines; last_name=Cardoso; company_domain=lisboa.example
  cardoso.ines | ines.cardosso@lisboa.exampel | cardoso@lisboa | -ines.cardoso@lisboa.example lisboa
last_name=Cardoso; work_emails=ines.cardoso@lisboa.example
  cardoso.ines | ines.cardosso@lisboa.exampel | cardoso@lisboa | ines.cardoso | ines.cardoso@lisboa.example
nobody
  +44 1273 555159 | +49 1273 555 | +45 1273 | 98202 | 202555014712 | 550147 | 041 7770 4821 | https://n.example/in/jorg-x | ines.pereira`,

  equivalents: `
last_name=Polder; job_title=VP of Marketing
  vice president | polder vice president marketing | vice president of marketing polder | vp polder
  job_title=Vice President | job_title=vice president, marketing | job_title=VP
last_name=Throckmorton; job_title=Chief Financial Officer
  cfo throckmorton | job_title=CFO
last_name=Ito; job_title=Sr. Software Eng; functional_area=Human Resources
  senior software engineer ito | ito hr | job_title=senior engineer
last_name=Harrington; first_name=Elizabeth
  liz harrington | Harrington, Betty | dr elizabeth harrington phd
last_name=Ode; first_name=Bob
  robert ode | mr. bob ode
last_name=Jansen; company_name=Polder B.V.
  polder bv jansen | jansen at polder | polder b.v. | company_name=Polder BV | company_name=polder gmbh
last_name=Reddy; company_name=Deccan Systems
  deccan systems private limited | company_name=Deccan Systems Pvt. Ltd.
last_name=Vail; company_name=Stone & Sons Co.
  stone and sons | company_name=Stone and Sons Company | stone & sons
last_name=Beethoven; city=München; state_region=Bayern
  beethoven munich | city=Munich | city=Muenchen | state_region=Bavaria | munich bavaria | beethoven in munich
last_name=Castellano; city=New York; state_region=CA
  castellano nyc | city=New York City | state_region=California
last_name=Kim; city=서울
  kim seoul | city=Seoul
nobody
  "vice president" | vice chair | job_title=vice | svp | ceo throckmorton | cfa throckmorton | last_name=cfo
  ito senor | functional_area=hr | first_name=liz | bob harrington | li harrington | rob ode | jansen ag
  company_name=bv polderin | deccan foods private limited | stone and bricks | munic | munich in beethoven
  state_region=Saxony | city=nyc york new jersey`,
};

const LISTS = ['work_emails', 'personal_emails', 'phones'];

/** The contacts of a table, and the contacts that each search finds. */
function examplesOf(table: string) {
  const records: Partial<ContactRecord>[] = [];
  const searches = new Map<string, string[]>();
  for (const [, given = '', asked = ''] of table.matchAll(/^((?:\S.*\n)+)((?: .*\n?)+)/gm)) {
    const finds = given !== 'nobody\n';
    if (finds) {
      const fields = fieldsOf(given.trim().replaceAll('\n', '; '), '; ');
      records.push(
        Object.fromEntries(
          fields.map(([name, value]) => [name, LISTS.includes(name) ? value.split(', ') : value]),
        ),
      );
    }
    for (const search of asked.trim().split(/ \| |\n\s+/)) {
      const found = searches.get(search) ?? [];
      searches.set(search, finds ? [...found, `c${records.length - 1}`] : found);
    }
  }
  return { records, searches };
}

export function recordStoreExamples(open: Open): void {
  describe('examples (contract 3.8, 3.9)', () => {
    const opened = useOpened(() => open());

    /** If nobody has an email or domain of the query, its parts are searched, as in a request. */
    async function find(organization: string, filters: Filters): Promise<string[]> {
      const search = asked(organization, filters);
      const { fallbackQuery } = parseQuery(filters.query ?? '') as { fallbackQuery?: never };
      const { page } = await searchContacts((part) => opened.store.searchContacts(part), {
        ...search,
        query: search.query && { ...search.query, fallbackQuery },
      });
      expect(page.total).to.equal(page.items.length);
      return page.items.map(({ contact_id }) => contact_id).sort();
    }

    for (const [title, table] of Object.entries(EXAMPLES)) {
      it(`of ${title} each find their contacts alone`, async () => {
        const organization = freshOrganization();
        const { records, searches } = examplesOf(table);
        await load(opened.store, organization, records);
        for (const [search, ids] of searches)
          expect(await find(organization, filtersOf(search)), search).to.deep.equal(ids.sort());
        const none = { first_name: null, country: null };
        expect(await find(organization, none)).to.have.length(records.length);
      });
    }
  });
}
