import { useState } from 'preact/hooks';
import { Failure } from '../components/states.js';
import { signIn, signInError, signingIn } from '../session.js';

export function SignIn() {
  const [key, setKey] = useState('');
  return (
    <main class="sign-in">
      <h1>Reachline</h1>
      <p>Contacts, audiences, visits and advertising of your organization.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(key.trim());
        }}
      >
        <label class="field">
          <span>API key</span>
          <input
            type="password"
            name="key"
            autocomplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={signingIn}>
          {signingIn.value ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      {signInError.value && <Failure error={signInError.value} />}
      <p class="note">
        Open tabs share the key, and it is forgotten when the last one closes.{' '}
        <code>reachline keys create</code> makes one; the API is described under <a href="/docs">/docs</a>.
      </p>
    </main>
  );
}
