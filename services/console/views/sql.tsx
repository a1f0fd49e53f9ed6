import { useEffect, useState } from 'preact/hooks';
import { AddPeopleAt, AddToAudience } from '../components/add-to-audience.js';
import { Form } from '../components/form.js';
import { ReportControls, reportOf } from '../components/report-controls.js';
import {
  isNumber,
  ResultCharts,
  type ResultColumn,
  type ResultRow,
  textOf,
} from '../components/result-charts.js';
import { Failure, NoPermission } from '../components/states.js';
import { type Column, FigureTable } from '../components/table.js';
import { CurlButton } from '../components/toolbar.js';
import { downloadRows } from '../export.js';
import { plural } from '../format.js';
import { audienceHref } from '../memberships.js';
import { href, param, setParams } from '../router.js';
import { missingScopeOf } from '../session.js';
import { useRequest } from '../use-request.js';
import { SQL_SCOPES } from '../view-scopes.js';

const MAX_ROWS = 1000;
const FIRST_STATEMENT =
  'SELECT country, count() AS contacts\nFROM contacts\nGROUP BY country\nORDER BY contacts DESC';

/** The example questions of the documentation, loaded with this view. */
function useQuestions() {
  const [questions, setQuestions] = useState<readonly { title: string; statement: string }[]>([]);
  useEffect(() => {
    import('virtual:questions').then(
      (loaded) => setQuestions(loaded.default),
      () => undefined,
    );
  }, []);
  return questions;
}

/** Runs SQL statements over the views of the organization. The statement that ran is in the address. */
export function Sql() {
  const scope = missingScopeOf(SQL_SCOPES);
  const questions = useQuestions();
  const asked = param('statement');
  const [statement, setStatement] = useState(asked || FIRST_STATEMENT);
  useEffect(() => {
    if (asked !== '') setStatement(asked);
  }, [asked]);
  const report = reportOf();
  const body = {
    statement: asked,
    parameters: { from: report.start_date, to: report.end_date },
    limit: MAX_ROWS,
  };
  // A write, such as Undo, does not run the statement again, because it may take 30 s.
  const answer = useRequest('/api/sql', scope || asked === '' ? null : body, undefined, {
    onlyWhenAsked: true,
  });
  const { error, loading, retry } = answer;
  // An old result is hidden, because its statement is no longer visible.
  const data = answer.state === 'current' ? answer.data : undefined;
  if (scope) return <NoPermission scope={scope} what="everything together, as SQL does" />;
  const run = (next: string) => (next === asked ? retry() : setParams({ statement: next }));
  return (
    <div class="view">
      <div class="toolbar">
        <h1>SQL</h1>
        <select
          aria-label="Question"
          value={questions.find((question) => question.statement === statement)?.title ?? ''}
          onChange={(event) => {
            const chosen = questions.find(({ title }) => title === event.currentTarget.value);
            if (chosen) setParams({ statement: chosen.statement });
          }}
        >
          <option value="">Begin with a question …</option>
          {questions.map(({ title }) => (
            <option key={title} value={title}>
              {title}
            </option>
          ))}
        </select>
        <ReportControls report={report} withGranularity={false} />
        <div class="actions">
          <a class="button" href="/docs/sql">
            Views and limits
          </a>
          <CurlButton url="/api/sql" body={{ ...body, statement }} />
        </div>
      </div>
      <Form onSubmit={() => run(statement)}>
        <textarea
          aria-label="Statement"
          spellcheck={false}
          rows={Math.min(20, Math.max(6, statement.split('\n').length))}
          value={statement}
          onInput={(event) => setStatement(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) run(statement);
          }}
        />
        <div class="toolbar">
          <button type="submit" class="primary" disabled={statement.trim() === '' || loading}>
            {loading ? 'Running …' : 'Run'}
          </button>
          <span class="note">
            ⌘ Enter or Ctrl Enter runs it. <code>{'{from:Date}'}</code> and <code>{'{to:Date}'}</code> are the
            dates of the range.
          </span>
          <output class="total">
            {data && plural(data.rows.length, 'row')}
            {data?.truncated && ', and there are more'}
          </output>
          <div class="actions">
            <button
              type="button"
              disabled={!data || data.rows.length === 0}
              onClick={() =>
                data &&
                downloadRows(
                  'result.csv',
                  data.columns.map(({ name }) => name),
                  data.rows,
                )
              }
            >
              Save as CSV
            </button>
          </div>
        </div>
      </Form>
      {error && (
        // Never retried automatically: a statement that takes too long would slow down all others each time.
        <Failure
          error={{ ...error, isTemporary: false, canRetry: true }}
          retry={error.isTemporary ? retry : undefined}
        />
      )}
      {data && <Result columns={data.columns} rows={data.rows} loading={loading} />}
    </div>
  );
}

interface ResultProps {
  columns: readonly ResultColumn[];
  rows: readonly ResultRow[];
  loading: boolean;
}

/** The page for an id, by the name of its column. */
const PAGES: Record<string, (id: string) => string> = {
  contact_id: (contact) => href('/contacts', { contact }),
  audience_id: audienceHref,
  campaign_id: (campaign_id) => href('/advertising/campaign', { campaign_id }),
  creative_id: (creative_id) => href('/advertising/creative', { creative_id }),
  company_id: (company_id) => href('/advertising/company', { company_id }),
  network_a_company_id: (id) => href('/advertising/company', { network_a_company_id: id }),
  company_domain: (domain) => href('/companies/company', { domain }),
  domain: (domain) => href('/companies/company', { domain }),
};

function linked({ name, type }: ResultColumn, value: unknown) {
  const page =
    Object.hasOwn(PAGES, name) && typeof value === 'string' && value !== '' && PAGES[name]?.(value);
  return page ? <a href={page}>{textOf(value, type)}</a> : textOf(value, type);
}

/** Distinct texts of a column. */
const textsIn = (rows: readonly ResultRow[], index: number) =>
  [
    ...new Set(rows.map((row) => row[index]).filter((value) => typeof value === 'string' && value !== '')),
  ] as string[];

/** Offers to add the people of a result to an audience, if it has a column of contacts or domains. */
function ResultPeople({ columns, rows }: Pick<ResultProps, 'columns' | 'rows'>) {
  const indexOf = (...names: string[]) => columns.findIndex(({ name }) => names.includes(name));
  const [contact, domain] = [indexOf('contact_id'), indexOf('domain', 'company_domain')];
  const ids = contact < 0 ? [] : textsIn(rows, contact);
  const domains = domain < 0 ? [] : textsIn(rows, domain);
  if (ids.length === 0 && domains.length === 0) return null;
  return (
    <div class="toolbar">
      {ids.length > 0 ? (
        <AddToAudience label={`Add ${plural(ids.length, 'contact')} to an audience`}>
          {(picker) => picker({ ids })}
        </AddToAudience>
      ) : (
        <AddPeopleAt domains={domains} />
      )}
    </div>
  );
}

function Result({ columns, rows, loading }: ResultProps) {
  const numbered = rows.map((row, index): [number, ResultRow] => [index, row]);
  const shown = columns.map(
    (column, index): Column<[number, ResultRow]> => ({
      label: column.name,
      class: isNumber(column) ? 'figure' : undefined,
      cell: ([, row]) => linked(column, row[index]),
    }),
  );
  return (
    <>
      <ResultPeople columns={columns} rows={rows} />
      <ResultCharts columns={columns} rows={rows} />
      <FigureTable
        label="Result"
        columns={shown}
        rows={numbered}
        keyOf={([index]) => String(index)}
        busy={loading}
      />
    </>
  );
}
