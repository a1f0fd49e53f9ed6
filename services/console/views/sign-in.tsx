import { useState } from 'preact/hooks';
import { Form, TextField } from '../components/form.js';
import { Logo } from '../components/logo.js';
import { Failure } from '../components/states.js';
import { signIn, signInError, signingIn } from '../session.js';

export function SignIn() {
  const [key, setKey] = useState('');
  return (
    <main class="sign-in">
      <Logo size={40} />
      <h1>Sign in to Reachline</h1>
      <p class="lead">Contacts, audiences, visits and advertising of your organization in one place.</p>
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
        No key? Whoever runs Reachline for you can send you a link with one, and makes it with{' '}
        <code>reachline keys create</code>. Open tabs share the key, and it is forgotten when the last one
        closes. <a href="/docs">Documentation</a>
      </p>
    </main>
  );
}
