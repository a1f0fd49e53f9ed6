import { useState } from 'preact/hooks';
import { Form, TextField } from '../components/form.js';
import { Failure } from '../components/states.js';
import { signIn, signInError, signingIn } from '../session.js';

export function SignIn() {
  const [key, setKey] = useState('');
  return (
    <main class="sign-in">
      <h1>Reachline</h1>
      <p>Contacts, audiences, visits and advertising of your organization.</p>
      <Form onSubmit={() => void signIn(key.trim())}>
        <TextField
          label="API key"
          type="password"
          name="key"
          spellcheck={false}
          required
          value={key}
          onText={setKey}
        />
        <button type="submit" class="primary" disabled={signingIn}>
          {signingIn.value ? 'Signing in …' : 'Sign in'}
        </button>
      </Form>
      {signInError.value && <Failure error={signInError.value} />}
      <p class="note">
        Open tabs share the key, and it is forgotten when the last one closes.{' '}
        <code>reachline keys create</code> creates one; the API is described under <a href="/docs">/docs</a>.
      </p>
    </main>
  );
}
