SwaggerUIBundle({url:"openapi.json",dom_id:"#docs",deepLinking:!0,docExpansion:"list",defaultModelsExpandDepth:0,validatorUrl:null});
