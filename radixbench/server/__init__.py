"""The bundled engine behind an OpenAI-compatible HTTP server with SGLang's control endpoints and log lines."""
