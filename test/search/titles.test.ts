import { expect } from 'chai';
import { rowsOf, TEXTS } from '../../services/search/equivalents.js';
import { DEPARTMENTS, SENIORITIES, titleClasses } from '../../services/search/titles.js';

/** Titles with their seniority and department; `-` is null. */
const TITLES = `
owner - | Founder & CEO
owner - | Co-Founder and Chief Executive Officer
owner - | Co-Owner
owner - | Managing Partner
owner marketing | Founder, Marketing Consultant
owner - | Inhaber
owner - | Geschäftsführender Gesellschafter
owner - | Co-fondatrice
owner - | Dueño
owner - | Sócio-fundador
owner - | Titolare
owner - | Mede-eigenaar
owner - | Właścicielka
owner - | Основатель
owner - | 创始人
c_level - | CEO
c_level - | C.E.O.
c_level finance | C.F.O.
c_level - | chief executive officer
c_level - | President
c_level - | President & CEO
c_level finance | CFO
c_level finance | Chief Financial Officer
c_level engineering | Chief Technology Officer
c_level marketing | CMO
c_level operations | Chief Operating Officer (COO)
c_level human_resources | Chief People Officer
c_level information_technology | Chief Information Security Officer
c_level product | Chief Product Officer
c_level sales | Chief Revenue Officer
c_level legal | General Counsel
c_level - | Managing Director
c_level - | Geschäftsführer
c_level - | GESCHAEFTSFUEHRERIN
c_level - | Vorstandsvorsitzender
c_level finance | Finanzvorstand
c_level - | PDG
c_level - | Directrice générale
c_level - | Director General
c_level finance | Directeur administratif et financier
c_level - | Amministratore delegato
c_level - | Algemeen directeur
c_level - | Prezes Zarządu
c_level - | Generální ředitel
c_level - | Verkställande direktör
c_level - | Genel Müdür
c_level - | Генеральный директор
c_level sales | Коммерческий директор
c_level - | מנכ״ל
c_level - | الرئيس التنفيذي
c_level - | 首席执行官
c_level finance | 首席財務官
c_level - | 代表取締役社長
c_level - | 대표이사
vp sales | VP of Sales
vp sales | V.P. Sales
vp - | Vice President
vp engineering | Vice-President, Engineering
vp - | SVP
vp marketing | Senior Vice President Marketing
vp - | Executive Vice President
vp - | Assistant Vice President
vp finance | EVP Finance & Administration
vp human_resources | VP People Operations
vp - | Vicepresidente
vp - | 副总裁
director marketing | Head of Marketing
director marketing | Marketing Director
director marketing | Global Head, Brand
director engineering | Director of Engineering
director finance | Finance Director
director information_technology | IT Director
director sales | Regional Sales Director
director - | Executive Director
director - | Chief of Staff
director - | Chief of Staff to the CEO
director - | Director, Office of the CEO
director legal | Associate General Counsel
director sales | Leiter Vertrieb
director sales | Vertriebsleiterin
director marketing | Marketingleiter
director human_resources | Directeur des ressources humaines
director sales | Directrice commerciale
director marketing | Directora de Marketing
director sales | Direttore vendite
director - | Dyrektor
director marketing | Ředitelka marketingu
director sales | 销售总监
director sales | 営業部長
manager sales | Sales Manager
manager sales | Senior Sales Manager
manager product | Product Manager
manager product | Lead Product Manager
manager operations | Project Manager
manager engineering | Software Engineering Manager
manager customer_service | Customer Success Manager
manager marketing | Product Marketing Manager
manager sales | Key Account Manager
manager - | General Manager
manager finance | Controller
manager human_resources | HR Manager
manager - | Assistant Manager
manager - | Trainee Manager
manager operations | Projektleiter
manager engineering | Teamleiter Softwareentwicklung
manager marketing | Responsable marketing
manager product | Chef de produit
manager sales | Gerente de Ventas
manager sales | Jefe de ventas
manager sales | Kierownik sprzedaży
manager sales | Менеджер по продажам
manager product | 产品经理
manager sales | 営業課長
manager operations | プロジェクトマネージャー
senior engineering | Senior Software Engineer
senior engineering | Sr. Software Eng
senior engineering | Staff Engineer
senior engineering | Principal Engineer
senior engineering | Tech Lead
senior finance | Senior Accountant
senior data | Senior Data Scientist
senior product | Senior Product Owner
senior engineering | Старший разработчик
senior engineering | 高级工程师
entry - | Intern
entry marketing | Marketing Intern
entry marketing | Marketing Manager Intern
entry - | Assistant to the CEO
entry - | Executive Assistant to the Chief Executive Officer
entry - | CEO Assistant
entry - | Personal Assistant to the Managing Director
entry - | Secretary to the President
entry engineering | Junior Software Developer
entry sales | Sales Development Representative
entry sales | Sales Associate
entry marketing | Marketing Coordinator
entry - | Working Student
entry sales | Praktikant Vertrieb
entry - | Werkstudentin
entry - | Assistentin der Geschäftsführung
entry - | Assistante de direction
entry - | Stagiaire
entry marketing | Stagista marketing
entry - | Becario
entry - | Стажёр
entry - | 实习生
- engineering | Software Engineer
- finance | Financial Analyst
- finance | Buchhalterin
- sales | Account Executive
- human_resources | HR Business Partner
- human_resources | Recruiter
- design | UX Designer
- design | Product Designer
- data | Data Analyst
- product | Product Owner
- marketing | SEO Specialist
- marketing | Lead Generation Specialist
- customer_service | Technical Support Specialist
- information_technology | Systems Administrator
- legal | Paralegal
- operations | Buyer
- health | Registered Nurse
- education | Assistant Professor
- education | Lehrerin
- communications | Spokesperson
- engineering | Développeuse
- engineering | エンジニア
- - | United States Senator
- - | Member of Congress
- - | Consultant
- - | Advisor to the CEO
- - | Reporting to CFO
- - | Office of the President
- - | Founder's Associate
- - | Owner's Representative
- - | Secretary of State
- - | Presidential Historian
- - | Leadership Coach
- - | Internal Affairs
- - | VPN
- - | Headquarters
- - | Ceos
- - | 12345
- - | !!
`
  .trim()
  .split('\n')
  .map((line) => {
    const [classes = '', title = ''] = line.split(' | ');
    const [seniority, department] = classes.split(' ').map((each) => (each === '-' ? null : each));
    return { title, seniority, department };
  });

describe('titleClasses', () => {
  it('knows titles of many languages, and says nothing of others', () => {
    const known = TITLES.map(({ title }) => ({ title, ...titleClasses(title) }));
    expect(known).to.deep.equal(TITLES);
    expect(titleClasses(null)).to.deep.equal({ seniority: null, department: null });
  });

  it('knows each class by a row, and no words by two', () => {
    for (const [text, classes] of [
      [TEXTS.seniority, SENIORITIES],
      [TEXTS.department, DEPARTMENTS],
    ] as const) {
      const rows = rowsOf(text).map((row) => row.split(': '));
      expect([...new Set(rows.map(([name]) => name))]).to.have.members(['none', 'end', ...classes]);
      const runs = rows.flatMap(([, listed = '']) => listed.split(', '));
      expect(new Set(runs).size).to.equal(runs.length);
    }
  });
});
