/** Drafts a mapping for the export of an unknown source: guesses by names and values, and a TODO for each doubt. */
import type { TObject } from 'typebox';
import type { Stream } from '../streams/stream.js';
import { compileMapping } from './compile.js';
import { compileDateFormat, dateOrders, exists, parseIsoDate } from './date-format.js';
import type { SourceRecord } from './mapping.js';
import type { MappingFile, SourceOptions } from './mapping-file.js';
import { compilePath, rootOf } from './path.js';
import { textOf } from './source-values.js';
import { type TargetType, targetTypes } from './target-types.js';

export interface MappingDraft {
  mapping: MappingFile;
  /** What to look at before the mapping is used. */
  todos: string[];
}

/** Names that tools have for a field, in the languages of their exports: letters and digits alone, in lower case. */
const NAMES: Readonly<Record<string, string>> = {
  contact_id:
    'id contactid recordid idderegistro iddoregistro iddelafichedinformations leadid personid memberid userid prospectid crmid datensatzid iddelcontacto iddelaficha idcontacto iddelapersona iddocontato',
  first_name: 'firstname givenname fname forename vorname prenom nombre nome primeironome',
  last_name: 'lastname surname familyname lname nachname nom apellidos apellido sobrenome cognome',
  work_emails:
    'email emailaddress workemail businessemail mail emailadresse adressemail adresseemail courriel correo correoelectronico personemail emailwork personemailwork',
  personal_emails: 'personalemail privateemail emailhome',
  phones:
    'phone phonenumber telephone tel telefon telefonnummer numerodetelephone telefono numerodetelefono numerodetelefone telefone mobile mobilephone mobilephonenumber mobiltelefon mobilnummer handynummer workphone directphone personphone phonework personphonework',
  network_a_url:
    'linkedin linkedinurl linkedinprofile linkedinprofileurl personlinkedinurl profileurl contactlinkedin',
  job_title:
    'title jobtitle position role berufsbezeichnung jobbezeichnung intituledeposte intituleduposte poste cargo puesto cargodetrabalho',
  functional_area: 'department departments jobfunction function abteilung departement departamento service',
  company_name:
    'company companyname organization organisation organizationname account accountname unternehmen unternehmensname firma nomdelentreprise entreprise empresa nombredelaempresa nombredeempresa nomedaempresa',
  company_domain:
    'website websiteurl companydomain companydomainname companywebsite domain websiteadresse urldelaempresa websitedaempresa siteweb sitioweb urldusiteweb urldelsitioweb urldosite',
  company_industry: 'industry branche secteur secteurdactivite sector setor industria primaryindustry',
  company_country: 'companycountry',
  city: 'city stadt ort ville ciudad cidade citta',
  state_region: 'state region stateregion bundesland provincia estado etatregion estadoregion province',
  country: 'country countryregion land landregion pays paysregion pais paisregion paisregiao countryname',
  postal_code: 'zip zipcode postalcode postcode plz postleitzahl codepostal codigopostal cep',
  gender: 'gender geschlecht genre genero',
  created_at:
    'createdate createddate createdat created erstellungsdatum datedecreation fechadecreacion datadecriacao personcreated',
  updated_at:
    'lastmodified lastmodifieddate updatedat updated modifieddate modifiedat datumderletztenanderung letztesanderungsdatum datededernieremodification fechadeultimamodificacion datadaultimamodificacao updatetime personupdatetime',
  date: 'date day startdate startdateinutc datum tag jour startdatum startdatuminutc datededebut datededebututc fecha fechadeinicio',
  campaign_id:
    'campaignid kampagnenid iddelacampagne iddelacampana iddacampanha idcampaign campaign campaignname nomdelacampagne nombredelacampana namederkampagne kampagnenname kampagne',
  creative_id: 'creativeid adid anzeigenid iddelannonce idanuncio iddelanuncio',
  company_id: 'companyid organizationid',
  ad_spend:
    'spend cost costs totalspent amountspent adspend totalcost kosten gesamtausgaben ausgaben depenses montantdepense depensestotales coste gasto importegastado gastototal costinlocalcurrency costinusd',
  impressions: 'impr impressionen impresiones impressoes',
  clicks: 'klicks clics cliques',
  leads: 'kontakte prospects',
  conversions: 'conversiones conversoes totalconversions konversionen',
  id: 'visitid eventid uuid idvisit sessionid messageid eventuuid pageviewid',
  createdAt:
    'timestamp time createdat startedat startat visitedat visittime datetime date seenat occurredat eventtime servertime',
  startUrl:
    'url pageurl landingpage landingpageurl entryurl entrypage page startpage currenturl location href pagelocation landingpagepath',
  ipAddress: 'ip ipaddress visitorip clientip visitip useripaddress',
  browser: 'browsername',
  browserVersion: 'browserver',
  platform: 'os operatingsystem osname operatingsystemname',
  countryCode: 'countrycode countryiso isocountry',
  name: 'campaignname adname creativename companyname audiencename title organizationname',
  domain: 'website websiteurl companydomain companywebsite url',
  industry: 'branche sector',
  currency: 'currencycode wahrung devise moneda',
  status: 'state campaignstatus',
};

const DATE_FORMATS = [
  'unix_s',
  'unix_ms',
  'DD.MM.YYYY HH:mm',
  'DD.MM.YYYY HH:mm:ss',
  'DD MMM YYYY',
  'D MMM YYYY',
  'MMM D, YYYY',
  'MMM DD, YYYY',
  'YYYYMMDD',
];

const MAX_PATHS = 200;
const MAX_MARKS = 8;
/** No path of a source: an edit is missing. */
const OPEN = 'TODO';

const plain = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** Drafts a mapping from the first records of an export; `columns` of a table, behind `preambleLines` lines. */
export function draftMapping(
  stream: Stream,
  samples: readonly SourceRecord[],
  { columns, preambleLines = 0 }: { columns?: readonly string[] | undefined; preambleLines?: number },
): MappingDraft {
  const paths = columns ?? leafPaths(samples);
  const types = targetTypes(stream);
  const todos: string[] = [];
  const used = new Set<string>();
  const fields: MappingFile['fields'] = {};
  let needsZone = false;
  for (const [field, type] of types) {
    if (field === 'organization_id' || field === 'organizationId' || field === 'deleted' || field === 'type')
      continue;
    const found = paths.filter((path) => !used.has(path) && isNameOf(field, path));
    const [first] = type === 'list' ? found : found.slice(0, 1);
    if (first === undefined) continue;
    for (const path of type === 'list' ? found : [first]) used.add(path);
    const source = sourceOf(field, type, type === 'list' ? found : [first]);
    if (typeof source === 'object' && 'path' in source) todos.push(...dateFormat(source, type, samples));
    needsZone ||= type === 'date-time' && lacksOffset(first, samples);
    fields[field] =
      typeof source === 'object' && 'path' in source && Object.keys(source).length === 1 ? first : source;
  }
  complete(stream, fields, todos);
  const mapping: MappingFile = {
    description: '',
    stream: stream.name as MappingFile['stream'] & string,
    ...(needsZone && { timezone: 'UTC' }),
    ...(preambleLines > 0 && { recognize: [...used].slice(0, MAX_MARKS) }),
    fields,
    ignore: columns === undefined ? 'rest' : columns.filter((column) => !used.has(column)),
  };
  if (needsZone) todos.push('timezone: dates have no offset; UTC is a guess.');
  const left = paths.filter((path) => !used.has(path));
  if (left.length > 0) {
    todos.push(
      `ignore: nothing takes ${left.slice(0, 10).join(', ')}${left.length > 10 ? ' and others' : ''}.`,
    );
  }
  mapping.description = todos
    .map((todo, index) => `TODO ${index + 1}: ${todo}`)
    .join(' ')
    .slice(0, 4000);
  // It compiles, whatever was guessed.
  compileMapping(mapping, stream);
  return { mapping, todos };
}

function isNameOf(field: string, path: string): boolean {
  const names = new Set([plain(field), ...(NAMES[field]?.split(' ') ?? [])]);
  const last = path.split(/\.| - /).at(-1) ?? path;
  return names.has(plain(path)) || names.has(plain(last));
}

function sourceOf(field: string, type: TargetType, paths: readonly string[]): SourceOptions {
  const [path = ''] = paths;
  if (type === 'list' && paths.length > 1) return { all: [...paths] };
  if (field === 'company_domain' || field === 'domain') return { path, host: true };
  return { path };
}

const valuesAt = (path: string, samples: readonly SourceRecord[]) => {
  const read = compilePath(path);
  return samples.map((sample) => textOf(read(sample))).filter((text) => text !== '');
};

const lacksOffset = (path: string, samples: readonly SourceRecord[]) =>
  valuesAt(path, samples).some((text) => {
    const parsed = parseIsoDate(text);
    return parsed === null ? !/^\d+$/.test(text) : 'day' in parsed;
  });

/** Adds the format that all values have; returns a TODO where none is known. */
function dateFormat(source: SourceOptions, type: TargetType, samples: readonly SourceRecord[]): string[] {
  if ((type !== 'date' && type !== 'date-time') || source.path === undefined) return [];
  const texts = valuesAt(source.path, samples);
  if (texts.every((text) => parseIsoDate(text) !== null || dateOrders(text).length > 0)) return [];
  const format = DATE_FORMATS.find((each) => {
    const parse = compileDateFormat(each);
    return texts.every((text) => {
      const parsed = parse(text);
      return (
        parsed !== null && exists(parsed) && !('instant' in parsed && parsed.instant < Date.UTC(2000, 0))
      );
    });
  });
  if (format !== undefined) source.format = format;
  return format === undefined
    ? [`${source.path}: name the "format" of ${JSON.stringify(texts[0]?.slice(0, 40))}.`]
    : [];
}

/** What the stream requires and no column gives. */
function complete(stream: Stream, fields: MappingFile['fields'], todos: string[]): void {
  const { required = [] } = stream.schema as TObject;
  const open = required.filter(
    (field) => !Object.hasOwn(fields, field) && field !== 'organization_id' && field !== 'organizationId',
  );
  for (const field of open) {
    const email = fields.work_emails;
    if (field === 'contact_id' && email !== undefined) {
      const path = typeof email === 'string' ? email : ((email as SourceOptions).all?.[0] ?? OPEN);
      fields[field] = { path: typeof path === 'string' ? path : OPEN, lower: true, id: true };
      todos.push('contact_id: the email is a guess; take what stays when a person gets another one.');
    } else {
      fields[field] = OPEN;
      todos.push(`${field}: name the column, in place of ${OPEN}.`);
    }
  }
  if (stream.name !== 'network-a-deliveries' || fields.creative_id || fields.company_id) return;
  const campaign = fields.campaign_id;
  fields.creative_id = {
    template: `urn:li:sponsoredCampaign:{${typeof campaign === 'string' ? campaign : OPEN}}`,
  };
  todos.push('creative_id: no column of ads; the campaign as a whole stands for them.');
}

/** Paths to the values of objects, not into lists. */
function leafPaths(samples: readonly SourceRecord[]): string[] {
  const paths = new Set<string>();
  const walk = (value: unknown, path: string, depth: number) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 4) {
      for (const [name, inner] of Object.entries(value)) {
        const below = path === '' ? name : `${path}.${name}`;
        if (rootOf(below) !== '' && paths.size < MAX_PATHS) walk(inner, below, depth + 1);
      }
    } else if (path !== '') paths.add(path);
  };
  for (const sample of samples) walk(sample, '', 0);
  return [...paths];
}
