import { CodeBlock } from '../components/code.js';
import { Fields, ParameterFields } from './fields.js';
import {
  type Answer,
  kindsOf,
  type Operation,
  problemsOf,
  refName,
  resolve,
  type Schema,
} from './open-api.js';
import { Description, Inline } from './text.js';
import { TryIt } from './try-it.js';

export function OperationPage({ operation }: { operation: Operation }) {
  const { method, path, summary, description, parameters, body, responses } = operation;
  const [, success] = responses.find(([status]) => status === '200') ?? [];
  const problems = problemsOf(operation);
  const errorHeaders = Object.assign({}, ...responses.map(([, { headers }]) => headers));
  for (const name of Object.keys(success?.headers ?? {})) delete errorHeaders[name];
  return (
    <article class="operation">
      <div class="doc">
        <h1>{summary}</h1>
        <p class="path">
          <span class="method">{method}</span> <code>{path}</code>
        </p>
        <Description text={description} />
        {parameters.length > 0 && (
          <>
            <h2 id="parameters">Parameters</h2>
            <ParameterFields parameters={parameters} />
          </>
        )}
        {body?.content.schema && (
          <>
            <h2 id="request">Request</h2>
            <p class="note">
              <Inline text={[body.types.join(' or '), body.description].filter(Boolean).join('. ')} />
            </p>
            <BodyFields schema={body.content.schema} />
          </>
        )}
        <h2 id="answer">Answer</h2>
        <SuccessFields answer={success} />
        {problems.length > 0 && (
          <>
            <h2 id="errors">Errors</h2>
            <p>
              Each is a <a href="/docs/errors">problem</a> with a stable <code>code</code>.
            </p>
            <ul class="problems">
              {problems.map(({ status, code, title }) => (
                <li key={code}>
                  <span class="status">{status}</span>
                  <span>
                    <a href={`/docs/errors#${code}`}>
                      <code>{code}</code>
                    </a>{' '}
                    {title}
                  </span>
                </li>
              ))}
            </ul>
            {Object.keys(errorHeaders).length > 0 && (
              <>
                <h3>Headers of errors</h3>
                <HeaderFields headers={errorHeaders} />
              </>
            )}
          </>
        )}
      </div>
      <div class="code-side">
        <TryIt key={operation.id} operation={operation} />
        <AnswerExample answer={success} />
      </div>
    </article>
  );
}

/** The fields of a body: of one object, of each entry of a list, or of each kind of record. */
function BodyFields({ schema }: { schema: Schema }) {
  const kinds = kindsOf(schema);
  if (!kinds) return <Fields schema={schema} anchor="request" />;
  return (
    <>
      {kinds.map((kind) => {
        const name = refName(kind);
        return (
          <details key={name} id={`record-${name}`} class="record">
            <summary>{name}</summary>
            <Fields schema={kind} />
          </details>
        );
      })}
    </>
  );
}

function SuccessFields({ answer }: { answer: Answer | undefined }) {
  if (!answer) return null;
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? [];
  return (
    <>
      <p>
        <strong>200</strong> <Inline text={answer.description} />
        {type && <span class="note"> {Object.keys(answer.content ?? {}).join(' or ')}</span>}
      </p>
      {content?.schema && <Fields schema={content.schema} anchor="answer" />}
      {answer.headers && (
        <>
          <h3>Headers of the answer</h3>
          <HeaderFields headers={answer.headers} />
        </>
      )}
    </>
  );
}

function HeaderFields({ headers }: { headers: NonNullable<Answer['headers']> }) {
  const parameters = Object.entries(headers).map(([name, header]) => {
    const { schema = {}, description } = resolve(header);
    return { name, in: 'header' as const, schema, description };
  });
  return <ParameterFields parameters={parameters} />;
}

function AnswerExample({ answer }: { answer: Answer | undefined }) {
  const [content] = Object.values(answer?.content ?? {});
  if (content?.example === undefined) return null;
  const text = JSON.stringify(content.example, null, 2);
  return <CodeBlock label="Example of an answer" text={text} language="json" />;
}
