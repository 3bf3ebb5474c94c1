// The API as a page, `/docs`: Swagger UI over this server's own OpenAPI document.

// Of swagger-ui-bundle.js, which docs.html loads before this.
declare function SwaggerUIBundle(options: object): void;

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // else it may send the document's address to validator.swagger.io
});
