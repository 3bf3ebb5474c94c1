// A certified OIDC provider for tests: on a free port of loopback, in memory, everybody logs in without being asked.
//
//     node provider.mjs FOLDER        the folder that has node_modules
//
// Prints its issuer on the first line, and ends when its standard input does, with whoever started it. Tests control it
// by POST /test with JSON:
//
//     {"rotate": true}                  another key signs, and the one before is gone
//     {"away": true}                    all else is answered 503, until false
//     {"groups": {"ann": ["staff"]}}    groups of a subject: a user, or a client that asks for itself
//     {"user": "bob"}                   who logs in next; null: the log-in is refused
//     {"redirects": ["http://…"]}       where the page may be sent back after log-in and after log-out
//     {"ttl": {"IdToken": 5}}           seconds that tokens of a kind last

import { createServer } from "node:http";
import { generateKeyPairSync, randomUUID } from "node:crypto";

const { Provider, errors, interactionPolicy } = await import(`${process.argv[2]}/node_modules/oidc-provider/lib/index.js`);

// Resource indicators: the API's, one whose tokens end soon, one of another API.
const RESOURCES = {
  "urn:headwater": { audience: "headwater", accessTokenTTL: 3600 },
  "urn:headwater:brief": { audience: "headwater", accessTokenTTL: 1 },
  "urn:other": { audience: "other", accessTokenTTL: 3600 },
};
// The tools of a server, whose clients ask for its URL.
const resourceOf = (name) => RESOURCES[name] ?? (/^http:\/\/127\.0\.0\.1:\d+\/mcp$/.test(name) ? RESOURCES["urn:headwater"] : undefined);
const SCOPES = "headwater:read headwater:write headwater:operate";

const state = { away: false, user: "ann", groups: {}, redirects: [], ttl: {}, asked: {} };
let key, provider, answer;

function rotate() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  key = { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" };
}

function configuration() {
  return {
    clients: [
      {
        client_id: "page",
        client_secret: "the-secret-of-the-page",
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        redirect_uris: state.redirects.length ? state.redirects.map((uri) => `${uri}/login/callback`) : ["http://127.0.0.1/login/callback"],
        post_logout_redirect_uris: state.redirects.map((uri) => `${uri}/?logged-out`),
        token_endpoint_auth_method: "client_secret_basic",
      },
      {
        client_id: "program",
        client_secret: "the-secret-of-the-program",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ["a key of the cookies in tests"] },
    claims: { openid: ["sub", "groups"] },
    // Groups are in the ID token, and not at the userinfo endpoint alone.
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, groups: state.groups[id] ?? [] }),
    }),
    extraTokenClaims: (_ctx, token) => ({ groups: state.groups[token.accountId ?? token.clientId] ?? [] }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        // Nobody is asked there either: the form is sent by itself.
        logoutSource: (ctx, form) => {
          ctx.body = `<!doctype html><title>Log out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Log out</button>`;
        },
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!resourceOf(resource)) throw new errors.InvalidTarget();
          return { scope: SCOPES, accessTokenFormat: "jwt", ...resourceOf(resource) };
        },
      },
    },
    interactions: { policy: interactionPolicy.base(), url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    scopes: ["openid", "offline_access"],
    ttl: { IdToken: 3600, Interaction: 600, Session: 3600, Grant: 3600, RefreshToken: 3600, AuthorizationCode: 60, ...state.ttl },
  };
}

function restart() {
  provider = new Provider(issuer, configuration());
  answer = provider.callback();
}

async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (state.user === null) {
    await provider.interactionFinished(request, response, { error: "access_denied", error_description: "not today" }, { mergeWithLastSubmission: false });
    return;
  }
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: state.user } }, { mergeWithLastSubmission: false });
    return;
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope("openid offline_access");
  grant.addOIDCClaims(["groups"]);
  if (params.resource) grant.addResourceScope(params.resource, SCOPES);
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
}

async function control(request, response) {
  let text = "";
  for await (const part of request) text += part;
  const { rotate: another, ...changed } = JSON.parse(text);
  Object.assign(state, changed);
  if (another) rotate();
  if (another || "redirects" in changed || "ttl" in changed) restart();
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(state.asked));
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, issuer);
  const failed = (error) => response.writeHead(500).end(String(error));
  if (pathname === "/test") {
    control(request, response).catch(failed);
    return;
  }
  state.asked[pathname] = (state.asked[pathname] ?? 0) + 1;
  if (state.away) response.writeHead(503).end();
  else if (pathname.startsWith("/interaction/")) interact(request, response).catch(failed);
  else answer(request, response);
});

let issuer;
server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  rotate();
  restart();
  console.log(issuer);
});
process.stdin.resume().on("end", () => process.exit(0));
