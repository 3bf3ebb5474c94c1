from __future__ import annotations

import base64

import pytest

from headwater_schemas.quoted_source import SOURCE_LEFT_OUT, without_source
from headwater_schemas.redaction import MASK, redact, without_user_info

SECRET = "hunter2-S3cr3t"


def test_a_secret_goes(subtests: pytest.Subtests) -> None:
    cases = [
        f"jdbc:postgresql://bob:{SECRET}@db:5432/flights",
        f"https://{SECRET}@git.example/x.git",
        f"mongodb+srv://bob:p@{SECRET}@host/db",
        f"amqp://bob:{SECRET}/with/slashes@host",
        f"jdbc:oracle:thin:bob/{SECRET}@host:1521:x",
        f"jdbc:mysql://db/x?user=bob&password={SECRET}&useSSL=true",
        f"password={SECRET}",
        f"PASSWORD = {SECRET}, user = bob",
        f'"password" : "{SECRET}"',
        f"'password': '{SECRET} with blanks'",
        f'password="{SECRET} and \\"more\\""',
        f"{{user -> bob, password -> {SECRET}}}",
        f"Map(sasl.password -> {SECRET}, x -> y)",
        f"db_passwd: {SECRET}",
        f"pwd={SECRET};",
        f"keystore.passphrase={SECRET}",
        f"fs.s3a.secret.key={SECRET}",
        f"fs.s3a.access.key={SECRET}",
        f"fs.s3a.session.token={SECRET}",
        f"fs.azure.account.key.acc.blob.core.windows.net={SECRET}",
        f"aws_secret_access_key = {SECRET}",
        f"spark.ssl.keyPassword={SECRET}",
        f"apiKey: {SECRET}",
        f"api-key={SECRET}",
        f"client_secret={SECRET}",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={SECRET};EndpointSuffix=y",
        f"--password {SECRET} --user bob",
        f"--token={SECRET}",
        f'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required password="{SECRET}";',
        f"sasl.jaas.config -> ScramLoginModule required username=a {SECRET};".replace("->", "="),
        f'ScramLoginModule required username="bob" something="{SECRET}";',
        f"Authorization: Bearer {SECRET}",
        f"authorization: Basic {SECRET}",
        f"Proxy-Authorization=Digest {SECRET}",
        f"got 401 for bearer {SECRET}",
        f"https://x.blob.core.windows.net/c?sv=1&sig={SECRET}&se=2",
        f"https://b.s3.amazonaws.com/k?X-Amz-Signature={SECRET}&X-Amz-Date=1",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\ncut off",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{SECRET}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"pass={SECRET}",
        f"db_pass={SECRET}",
        f"dbPass: {SECRET}",
        f"userpass={SECRET}",
        f"passcode={SECRET}",
        f"--pw {SECRET} --user bob",
        f"['connect', '--password', '{SECRET}']",
        f"-password {SECRET}",
        f"CREATE USER bob IDENTIFIED BY '{SECRET}'",
        f"IDENTIFIED WITH mysql_native_password BY '{SECRET}'",
        f"identified by {SECRET} default tablespace users",
        f"ALTER USER bob WITH PASSWORD '{SECRET}'",
        f"SET PASSWORD FOR 'bob'@'h' = PASSWORD('{SECRET}')",
        f"mysql -u root -p{SECRET} -h db flights",
        f"['mysqldump', '-p{SECRET}', 'flights']",
        f"sshpass -p {SECRET} ssh bob@host",
        f"curl -u bob:{SECRET} http://db/x",
        f"redis-cli -a {SECRET} ping",
        f"sqlplus bob/{SECRET}@db",
        f"Cookie: session={SECRET}; theme=dark",
        f"{{'Cookie': 'session={SECRET}; theme=dark'}}",
        f'"Set-Cookie": "session={SECRET}; Path=/"',
        f'Authorization: Digest username="bob", response="{SECRET}"',
        f"https://maps.example/geocode?key={SECRET}&city=Oslo",
        f"private_key = {SECRET}",
        f'{{"private_key": "-----BEGIN PRIVATE KEY-----\\n{SECRET}\\n-----END PRIVATE KEY-----\\n"}}',
        f"private_key: |\n  {SECRET}\n  {SECRET}\nuser: bob",
        f"x-goog-signature={SECRET}",
        f"X-Goog-Signature: {SECRET}",
        f"SharedAccessSignature={SECRET}",
        f"{{user=bob, password={SECRET}}}",
        f"{{password={SECRET}, user=bob}}",
        f'{{\\"password\\": \\"{SECRET} with blanks\\"}}',
        f'password="{SECRET} cut off',
        f"conf['password'] = '{SECRET} with blanks'",
        f"password == '{SECRET}'",
        f"`password` = '{SECRET}'",
        f"password='it''s {SECRET}'",
        f"password=b'{SECRET} with blanks'",
        f"password=SecretStr('{SECRET} with blanks')",
        f"password=a,b{SECRET}",
        f"secrets: {{a: '{SECRET}', b: 'x'}}",
        f"<password>{SECRET}</password>",
        f"<name>fs.s3a.secret.key</name>\n<value>{SECRET}</value>",
        f'{{"name": "DB_PASSWORD", "value": "{SECRET}"}}',
        f"[('spark.ssl.keyPassword', '{SECRET}'), ('a', 'b')]",
        f"passphrase:\n  {SECRET}",
        f"bob:{SECRET}@broker:9092",
        f"redis://:{SECRET}@host",
    ]
    for text in cases:
        with subtests.test(text=text):
            redacted = redact(text)
            assert SECRET not in redacted
            assert MASK in redacted


def test_a_secret_goes_where_its_name_is_encoded_foreign_or_an_argument(subtests: pytest.Subtests) -> None:
    cases = [
        f"passwort={SECRET}",
        f"Kennwort: {SECRET}",
        f"contraseña={SECRET}",
        f"mot_de_passe={SECRET}",
        f"wachtwoord = {SECRET}",
        f"senha: '{SECRET}'",
        f"spark.my.password  {SECRET}",
        f"spark.a 1\nspark.hadoop.fs.s3a.secret.key\t{SECRET}\nspark.b 2",
        f"coalesce(token, '{SECRET}')",
        f"SELECT nvl(t.`db_pass`, '{SECRET}') FROM t",
        f"ifnull(a.password, '{SECRET}')",
        f"format_string('user=%s password=%s', u, '{SECRET}')",
        f"printf('token: %s', '{SECRET}')",
        f"{{&quot;password&quot;: &quot;{SECRET}&quot;}}",
        f"&lt;password&gt;{SECRET}&lt;/password&gt;",
        f"OPTIONS (&#39;my.password&#39; &#39;{SECRET}&#39;)",
        f"'IDENTIFIED BY &#x27;{SECRET} x&#x27;'",
        f"'&#x27;{SECRET} x&#x27; AS password'",
        f"/t/day=pgp_sym_encrypt(d, &%23x27;{SECRET} x&%23x27;)/part-0",
    ]
    for text in cases:
        with subtests.test(text=text):
            assert SECRET not in redact(text)
            assert redact(redact(text)) == redact(text)
    for text in (f"password={SECRET}", f'{{"password": "{SECRET}"}}', "jdbc:mysql://h/d?password=x", f"bob:{SECRET}@h"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            with subtests.test(encoded=text):
                encoded = encode(text.encode()).decode()
                assert redact(f"conf {encoded}, more") == f"conf {MASK}, more"
                assert "=" not in encoded or redact(f"/t/conf {encoded}/part-0") == f"/t/conf {MASK}/part-0"


def test_a_quoted_secret_in_a_literal_goes(subtests: pytest.Subtests) -> None:
    cases = [
        (f"concat('user=''a'' password=''{SECRET}'' host=', h)", f"concat('user=''a'' password={MASK} host=', h)"),
        (f"SELECT 'token=''{SECRET} x''', 1", f"SELECT 'token={MASK}', 1"),
        (f"SELECT 'PASSWORD(''{SECRET}'')'", f"SELECT 'PASSWORD({MASK})'"),
        (f"SELECT '(''password'',''{SECRET}'')'", f"SELECT '(''password'',{MASK})'"),
        (f"SELECT '{{''password'': ''{SECRET}''}}'", f"SELECT '{{''password'': {MASK}}}'"),
        (f"SELECT '<user password=''{SECRET}'' id=''1''/>'", f"SELECT '<user password={MASK} id=''1''/>'"),
        (f"SELECT 'sig=''{SECRET}0123456''&se=1'", f"SELECT 'sig=''{MASK}''&se=1'"),
        (rf"SELECT 'user=\'a\' password=\'{SECRET} b\' x'", rf"SELECT 'user=\'a\' password={MASK} x'"),
        (rf"SELECT 'p\u0061ssword={SECRET} x'", f"SELECT 'password={MASK} x'"),
        # As Spark prints a literal whose value has escapes, and as it escapes a partition's path.
        (rf"'SELECT ''password=S(\''{SECRET} x\'') z'' AS a'", f"'SELECT ''password={MASK}) z'' AS a'"),
        (
            f"`2 SELECT 'OPTIONS (''my.password'' ''{SECRET} x'') z'`",
            f"`2 SELECT 'OPTIONS (''my.password'' {MASK}) z'`",
        ),
        (f"day=SELECT %27WITH PASSWORD %5C%27{SECRET} x%5C%27 z%27", rf"day=SELECT 'WITH PASSWORD {MASK} z'"),
        (f'SELECT "user=""a"" password=""{SECRET} b"" x"', f'SELECT "user=""a"" password={MASK} x"'),
        (f"SELECT 'a ''b ''''password=''''{SECRET} c'''' '' '", f"SELECT 'a ''b ''''password={MASK} '' '"),
    ]
    for text, left in cases:
        with subtests.test(text=text):
            assert redact(text) == left
            assert redact(left) == left


def test_a_secret_goes_by_its_place_in_sql_xml_and_addresses(subtests: pytest.Subtests) -> None:
    cases = [
        (f"aes_encrypt(name, '{SECRET}')", f"aes_encrypt(name, {MASK})"),
        (f"AES_DECRYPT(unbase64(x), '{SECRET}', 'GCM')", f"AES_DECRYPT(unbase64(x), {MASK}, 'GCM')"),
        (f"try_aes_decrypt(a, key => '{SECRET}')", f"try_aes_decrypt(a, {MASK})"),
        (f"aes_encrypt(concat(a, ')'), unhex('{SECRET}'))", f"aes_encrypt(concat(a, ')'), {MASK})"),
        (f"aes_decrypt(aes_encrypt(a, '{SECRET}'), '{SECRET}')", f"aes_decrypt(aes_encrypt(a, {MASK}), {MASK})"),
        (f"EncryptByPassphrase('{SECRET}', x)", f"EncryptByPassphrase({MASK}, x)"),
        ("aes_encrypt(name, key_column)", "aes_encrypt(name, key_column)"),
        (f"map('user', 'a', 'password', '{SECRET}')", f"map('user', 'a', 'password', {MASK})"),
        (rf"map(\\'a\\', 1, \\'password\\', \\'{SECRET} x\\')", rf"map(\\'a\\', 1, \\'password\\', {MASK})"),
        (f"OPTIONS ('my.password' '{SECRET} x')", f"OPTIONS ('my.password' {MASK})"),
        (f"OPTIONS (url 'a', token '{SECRET} x', dbtable 't')", f"OPTIONS (url 'a', token {MASK}, dbtable 't')"),
        (f'<property name="password" value="{SECRET} x"/>', f'<property name="password" value={MASK}/>'),
        (f'<entry key="password">{SECRET} x</entry>', f'<entry key="password">{MASK}</entry>'),
        (f"/data/*.csv?sig={SECRET}&se=1", f"/data/*.csv?sig={MASK}&se=1"),
        (f'"sig": "{SECRET}0123456789"', f'"sig": "{MASK}"'),
        (f"/t/note=password%3D{SECRET} x", f"/t/note=password={MASK} x"),
        (f"jdbc%3Apostgresql%3A%2F%2Fbob%3A{SECRET}%40h%2Fdb", f"jdbc:postgresql://{MASK}@h/db"),
        (f"note=jdbc%253Ax%253A%252F%252Fbob%253A{SECRET}%2540h", f"note=jdbc:x://{MASK}@h"),
        (f"/data/https:/{SECRET}@git.example/x.git", f"/data/https:/{MASK}@git.example/x.git"),
        (f"file://user:{SECRET}@host/x", f"file://{MASK}@host/x"),
        # What stands in two literals, or before its name, or is compared otherwise than by `=`.
        (f"concat('password=', '{SECRET}')", f"concat('password=', {MASK})"),
        (f"'password=' || '{SECRET} x'", f"'password=' || {MASK}"),
        (f"SELECT '{SECRET} x' AS `api_key`, 1 AS a", f"SELECT {MASK} AS `api_key`, 1 AS a"),
        (f"t.token <> '{SECRET}' AND x", f"t.token <> {MASK} AND x"),
        (f"token NOT IN ('{SECRET}', 'b') AND x", f"token NOT IN {MASK} AND x"),
        (f"password LIKE '{SECRET}%'", f"password LIKE {MASK}"),
        (f"DECLARE password STRING DEFAULT '{SECRET}'", f"DECLARE password STRING DEFAULT {MASK}"),
        (f"COPY t SECRET_ACCESS_KEY '{SECRET}' CSV", f"COPY t SECRET_ACCESS_KEY {MASK} CSV"),
        (f"<ns:password>{SECRET}</ns:password>", f"<ns:password>{MASK}</ns:password>"),
        (f"<password><![CDATA[{SECRET}<x]]></password>", f"<password>{MASK}</password>"),
        (f"basic.auth.user.info=u:{SECRET}", f"basic.auth.user.info={MASK}"),
        (f"FERNET_KEY={SECRET}, SECRET_ID={SECRET}", f"FERNET_KEY={MASK}, SECRET_ID={MASK}"),
        # No other column: a secret with a dot in it.
        (f"password=my.{SECRET}", f"password={MASK}"),
        (f'"token": {{"type": "string", "default": "{SECRET}"}}', f'"token": {MASK}'),
    ]
    for text, left in cases:
        with subtests.test(text=text):
            assert redact(text) == left
            assert redact(left) == left


def test_a_key_without_a_name_goes_by_its_shape_and_entropy(subtests: pytest.Subtests) -> None:
    keys = [
        *("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY"),
        *("q7XzR2vNpL9kTf4WbYd8HmJc3sGu6EaQx1Zo5Vi0", "Rk9vQmFyQmF6UXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo="),
        # Of rules that come from gitleaks alone.
        *("A3-ABC123-DEF456GHI78-JKL90-MNO12-PQR34", "dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX." + "A1B2C3D4" * 8),
        *("p8e-" + "0123456789abcdef" * 2, "rdme_" + "0a1b2c3d4e" * 7, "sm_pat_0123456789abcdef"),
    ]
    for key in keys:
        with subtests.test(key=key):
            assert redact(f"SELECT '{key}' AS x") == f"SELECT '{MASK}' AS x"
            assert redact(key) == MASK


def test_innocent_texts_stay_byte_for_byte(subtests: pytest.Subtests) -> None:
    uuid, sha = "3f2b8c1e-9d4a-4b6f-8e2d-7c5a1f0b9e8d", "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    cases = [
        *(uuid, uuid.upper(), uuid.replace("-", ""), sha, f"sha256:{sha}{sha[:24]}", f"git checkout {sha}"),
        *(f"part-00000-{uuid}-c000.snappy.parquet", f"part-00000-{uuid}.c000", f"_delta_log/{20:020}.json"),
        *(f"00012-{uuid}.metadata.json", f"snap-8744736658442914487-1-{uuid}.avro", f"{uuid}-m0.avro"),
        *("local-1719835210123", "app-20240701120000-0001", "application_1719835210123_0042", "lineage.events-3@120"),
        *("MkU3OEVBNTcwNTJENDM2Qg", "manual__2024-01-01T00:00:00+00:00", "batch id 17, 2,048 rows"),
        f"SELECT * FROM t WHERE md5(name) = '5d41402abc4b2a76b9719d911017c592' AND sha1(x) = '{sha}'",
        "SELECT passenger_count, tokenized_text, primary_key, keys, compass, sign FROM trips WHERE sig = 0.05",
        "SELECT CustomerLifetimeValueByRegionQuarter2024 FROM s.totalNumberOfPassengersX1",
        "INSERT INTO t PARTITION (key='a', code='b') SELECT '', 'it''s', \"a\"\"b\", r'\\d+' FROM `x``y`",
        r"SELECT 'it''s \'x\' \u0041 \101', '\\|', split(x, '\\|') -- don't",
        "SELECT regexp_replace(y, '[^a-z]', ''), from_json(z, 'a INT, b STRING') FROM t /* 'password */",
        "SELECT map('a', 'b', 'c', 'd'), named_struct('x', 1), aes_encrypt(a, b) FROM t -- don't",
        *("file:/data/lake/100%25/dt=2024-01-01/part%20one", "/lake/Flights/Year2024/QuarterlyReport/ABCDEF/Q1"),
        *("s3://lake/key=5/*.parquet", "abfss://container@account.dfs.core.windows.net/path", "UTF-8"),
        "https://docs.example/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        *("org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog2", "arn:aws:iam::123456789012:role/etl"),
        '{"type":"struct","fields":[{"name":"password","type":"string","nullable":true,"metadata":{}}]}',
        # Facts about secrets, columns that are called so, and their types.
        *("WHERE api_key_id = 5", "token_type: bearer", "password_changed_at = now()", "token_count=5", "max_tokens=5"),
        *(
            "private_key_path=/etc/x",
            "tokenEndpoint: https://h/token",
            "PASS=5 WARN=0 ERROR=0",
            "secretary = 'b'",
        ),
        # What is nearly a name with its value, or nearly a secret encoded.
        "SELECT coalesce(token, other), nvl(name, 'x'), ifnull(token, ''), format('%s: %d', 'a', 1) FROM t",
        *("spark.my.password is missing", "org.apache.hadoop.security.token.TokenIdentifier b1a2c3d4", "desenhar=8"),
        *(
            "a &quot;b&quot; &lt;c&gt; &amp; d",
            "VGhlIHF1aWNrIGJyb3du",
            "/opt/spark/jars/org/apache/spark/token/Provider2",
        ),
        "SELECT * FROM password_resets r JOIN users u ON r.token = u.token WHERE u.api_key = `b`.`api_key`",
        *("struct<token:string,password:array<struct<pwd:decimal(10,2)>>>", " |-- password: string (nullable = true)"),
        *("token: bigint", " |-- token: struct (nullable = true)", '{"properties": {"token": {"type": "string"}}}'),
        *("Parsed: 'Project [passengers#12 AS p#13]", "struct<key:string,value:array<int>>", "(a + b) % c"),
    ]
    for text in cases:
        with subtests.test(text=text):
            assert redact(text) == text


PASSWORDS = "password passwd passphrase passcode passwrd pwd pass pw secret token credential jwt otp sas"
KEYS = "api access account private sas shared signing encryption master storage subscription auth license"


def test_a_setting_goes_by_its_name_alone(subtests: pytest.Subtests) -> None:
    for name in [
        *PASSWORDS.split(),
        *(f"fs.x.{kind}key" for kind in KEYS.split()),
        *(f"fs.x.{kind}_key" for kind in KEYS.split()),
        *("connectionstring", "jsessionid", "phpsessid", "x-goog-signature", "x-amz-signature", "access.signature"),
    ]:
        with subtests.test(name=name):
            for text in (f"{name}=1st{SECRET}, user=bob", f"{name.upper()} = 1st{SECRET}", f'"{name}": "1st{SECRET}"'):
                assert SECRET not in redact(text)
                assert MASK in redact(text)


def test_a_part_of_an_addresss_query_goes(subtests: pytest.Subtests) -> None:
    for name in ["sig", "signature", "auth", "key", "X-Amz-Signature", "x-goog-signature"]:
        with subtests.test(name=name):
            assert redact(f"https://h/p?a=1&{name}=S3cr3t&b=2") == f"https://h/p?a=1&{name}={MASK}&b=2"
            upto_next = redact(f"https://h/p?{name}=S3cr3t,x=hunter2&b=2")
            assert upto_next == f"https://h/p?{name}={MASK}&b=2"


def test_what_follows_a_scheme_of_authorization_goes(subtests: pytest.Subtests) -> None:
    for scheme in ["Bearer", "bearer", "Basic", "BASIC"]:
        with subtests.test(scheme=scheme):
            assert redact(f"sent {scheme} dXNlcjpodW50ZXIy to h") == f"sent {scheme} {MASK} to h"


def test_a_token_goes_by_its_look_alone(subtests: pytest.Subtests) -> None:
    cases = [
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdefghij",
        "xoxb-1234567890-abcdefghij",
        "dapi0123456789abcdef0123456789abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123",
        "glpat-ABCDEFGHIJ0123456789",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "pypi-AgEIcHlwaS5vcmcCJDU3NTY",
        "dckr_pat_abcdefghijklmnopqrstuvw",
        "SG." + "abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz",
        "shpat_0123456789abcdef0123456789abcdef",
        "ya29.a0AfH6SMBabcdefghijkl",
        "GOCSPX-abcdefghijklmnopqrst",
        "hvs.CAESIabcdefghijklmnopqrstu",
        "sk-proj-abc123abcdefghijklmnop",
        "abc8Q~abcdefghijklmnopqrstuvwxyzABCDEF01",
        "Basic dTpwdw==",
    ]
    for token in cases:
        with subtests.test(token=token):
            assert token not in redact(f"refused: {token} is not valid")


def test_what_is_no_secret_stays(subtests: pytest.Subtests) -> None:
    cases = [
        "java.io.FileNotFoundException: /data/in/part-0.parquet does not exist",
        "kafka://broker:9092 is unreachable (user@example.com was told)",
        "Column 'delay' does not exist. Did you mean `dep_delay`?",
        "at org.apache.spark.sql.execution.SQLExecution$.withNewExecutionId(SQLExecution.scala:233)",
        "s3a://bucket/path/to/object@v2",
        "hdfs://namenode:8020/delta/flights@v5",
        "abfss://container@account.dfs.core.windows.net/path",
        "hdfs://nn/flights/dt=1/key=5/part-0",
        "passengers=3, bypass=true, passport_no=7",
        "table passengers: 5 rows",
        "basic authentication failed, the bearer token expired",
        "at org.apache.hadoop.security.token.TokenCache.obtain(TokenCache.scala:12)",
        "org.apache.kafka.common.errors.DelegationTokenExpiredException: it expired",
        "Optional<Token> of it is empty",
        "sha2(password, 256)",
        "Column `password` does not exist",
        "'password' is no column of 'users'",
        "KeyError: 'password'",
        "password=null",
        "primary_key: id, monkey=3",
        "/lake/ops-team-some-long-folder-name/sk-slovak-dataset-of-long-name",
        "offset lineage.events:3@120",
        "",
    ]
    for text in cases:
        with subtests.test(text=text):
            assert redact(text) == text


def test_a_cut_comes_after_redacting() -> None:
    assert redact("password=" + "x" * 100, max_chars=15) == "password=[reda…"
    assert redact("short", max_chars=5) == "short"


def test_an_address_loses_its_user_and_nothing_else(subtests: pytest.Subtests) -> None:
    cases = [
        ("bolt://neo4j:hunter2@graph:7687", f"bolt://{MASK}@graph:7687"),
        ("neo4j:hunter2@graph", f"{MASK}@graph"),
        ("a:9092,bob:hunter2@b:9092", f"a:9092,{MASK}@b:9092"),
        ("s3a://KEY:hun/ter2@bucket/cp", f"s3a://{MASK}@bucket/cp"),
        ("abfss://container@account.dfs.core.windows.net/cp", "abfss://container@account.dfs.core.windows.net/cp"),
        ("token_events at broker:9092", "token_events at broker:9092"),
    ]
    for address, left in cases:
        with subtests.test(address=address):
            assert without_user_info(address) == left


TRACEBACK = """\
Traceback (most recent call last):
  File "/app/etl.py", line 3, in <module>
    connect('bob',
    ~~~~~~~^^^^^^
            'hunter2')
            ^^^^^^^^^^
  File "/app/db.py", line 12, in connect
    query = \"\"\"SELECT 'hunter2'

      FROM t\"\"\"
  [Previous line repeated 3 more times]
ValueError: refused
   on two lines"""
LEFT = """\
Traceback (most recent call last):
  File "/app/etl.py", line 3, in <module>
  File "/app/db.py", line 12, in connect
  [Previous line repeated 3 more times]
ValueError: refused
   on two lines"""


def test_file_line_and_function_of_a_traceback_stay_and_its_code_goes() -> None:
    assert without_source(TRACEBACK) == LEFT
    assert without_source(LEFT) == LEFT


def test_the_code_of_a_traceback_inside_a_stack_trace_of_the_jvm_goes() -> None:
    frames = "\n\n\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:581)\n\t... 3 more"
    text = f"Caused by: org.apache.spark.api.python.PythonException: {TRACEBACK}{frames}"
    assert without_source(text) == f"Caused by: org.apache.spark.api.python.PythonException: {LEFT}{frames}"


def test_the_code_of_a_group_of_exceptions_goes() -> None:
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "/app/etl.py", line 3, in <module>
  |     raise ExceptionGroup('hunter2')
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/etl.py", line 4, in f
    |     connect('hunter2')
    | ValueError: refused
    +------------------------------------"""
    left = without_source(text)
    assert "hunter2" not in left
    assert [line for line in text.splitlines() if "hunter2" not in line] == left.splitlines()


def test_the_code_of_a_quoted_traceback_goes(subtests: pytest.Subtests) -> None:
    for depth in [1, 2]:
        with subtests.test(depth=depth):
            quoted, left = TRACEBACK, LEFT
            for _ in range(depth):
                quoted, left = (repr(text + "'")[1:-1] for text in (quoted, left))
            assert without_source(quoted) == left


def test_a_path_of_windows_is_no_line_break() -> None:
    text = 'Traceback (most recent call last):\n  File "C:\\new\\notes.py", line 3, in f\n    g()\nValueError: x'
    assert without_source(text) == text.replace("    g()\n", "")


def test_the_statement_that_spark_quotes_goes() -> None:
    text = (
        "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\n"
        "SELECT aes_encrypt(x, 'hunter2'), 1/0\n       ^^^\n\n\tat org.apache.spark.sql.Dataset.f(Dataset.scala:1)"
    )
    left = without_source(text)
    assert "hunter2" not in left
    assert left.startswith("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\n")
    assert SOURCE_LEFT_OUT in left
    assert left.endswith("\tat org.apache.spark.sql.Dataset.f(Dataset.scala:1)")
    assert without_source(left) == left


def test_the_plan_behind_an_analysis_exception_goes() -> None:
    text = (
        "[UNRESOLVED_COLUMN] A column with name `x` cannot be resolved. SQLSTATE: 42703;\n"
        "'Project [aes_encrypt(ssn, hunter2) AS a, 'x]\n+- Relation [ssn] parquet\n"
    )
    assert "hunter2" not in without_source(text)
    assert "`x` cannot be resolved" in without_source(text)


# Texts that make a pattern which backtracks, or which begins anew at each character of a run, take minutes.
PIECES = [
    *("a", "-", "_", "'", " ", "\n", "password", "password=", "password='", 'password=\\"', "password,", "password ("),
    *("a://", "a://b:", "a://b@", "a:b@", "jdbc:oracle:thin:a/", "bearer ", "basic ", "?key=", "key=", "token={"),
    *("-eyJaaaaaaaa", "eyJaaaaaaaa.", "sk-sk-", "a.b-", "--token ", "('token', ", "mysql -", "curl ", "Cookie:", "=\\"),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "identified by ", "tokenLoginModule required ", "AAAA/", "0Q~"),
    *("''", "'a''", '""', "'\\\\'", "/*", "`", "--  ", "%3D", "%", "aes_encrypt(x, '", "map('token', ", "sig="),
    *("ey", "A3-", "aB3", "aB3/", "(token ", "('token' ", '<a name="token">'),
    *("== SQL ==\n", ";\n+- ", "+- \n", "\\\\n", "password: |\n ", "token=[[", "<token "),
    *('  File "x", line 1, in f\n    ', '\\n  File "x", line 1'),
]


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_no_text_takes_long(subtests: pytest.Subtests) -> None:
    for piece in PIECES:
        with subtests.test(piece=piece):
            text = piece * (200_000 // len(piece))
            redact(text)
            without_source(text)


def test_all_but_the_secret_is_left(subtests: pytest.Subtests) -> None:
    cases = [
        (
            "connect jdbc:postgresql://bob:x@db/flights failed, password=y, retries=3",
            f"connect jdbc:postgresql://{MASK}@db/flights failed, password={MASK}, retries=3",
        ),
        ("pass=a, retries=3", f"pass={MASK}, retries=3"),
        ("{password=a, user=bob}", f"{{password={MASK}, user=bob}}"),
        ("?user=bob&password=a&ssl=true", f"?user=bob&password={MASK}&ssl=true"),
        ("Cookie: a=b\nHost: db", f"Cookie: {MASK}\nHost: db"),
        ("sasl.jaas.config=Plain required x;next", "sasl.jaas.config=[redacted]next"),
        ("ScramLoginModule required a=b; next", "ScramLoginModule required [redacted] next"),
        ("cookie=a b", "cookie=[redacted] b"),
        ("{cookie -> abc}", "{cookie -> [redacted]}"),
        ("Authorization: Bearer abcdef12, next", "Authorization: [redacted], next"),
        ("sqlplus bob/tiger", "sqlplus [redacted]"),
        ("CREATE USER bob IDENTIFIED BY 'x' ACCOUNT LOCK", "CREATE USER bob IDENTIFIED BY [redacted] ACCOUNT LOCK"),
        ("mysql -u bob -phunter2 db", "mysql -u bob -p[redacted] db"),
        ("curl -u bob:hunter2 x", "curl -u bob:[redacted] x"),
        ("redis-cli -a hunter2 x", "redis-cli -a [redacted] x"),
        ("https://h/x?sig=abc&se=2", "https://h/x?sig=[redacted]&se=2"),
        ("https://h/?code=aaaaaaaaaaaaaaaaaaaa&x=1", "https://h/?code=[redacted]&x=1"),
        ("https://h/?code=short", "https://h/?code=short"),
        ("key AKIA0123456789ABCDEF x", "key [redacted] x"),
        ("https://hooks.slack.com/services/T0/B0/abcdefgh", "https://hooks.slack.com/services/[redacted]"),
        ("dapi0123456789abcdef0123456789abcdef x", "[redacted] x"),
        ("abfs://c@acct/x", "abfs://c@acct/x"),
        ("abfss://c@acct/x", "abfss://c@acct/x"),
        ("wasb://c@acct/x", "wasb://c@acct/x"),
        ("wasbs://c@acct/x", "wasbs://c@acct/x"),
        ("dbPassFile=x y", "dbPassFile=[redacted] y"),
        ("passphrase 'x y' z", "passphrase [redacted] z"),
        ("passcode ('x') z", "passcode ([redacted]) z"),
        ('password="aXb c" d', "password=[redacted] d"),
        ("password='aXb c' d", "password=[redacted] d"),
        ("password=`aXb c` d", "password=[redacted] d"),
        ('password="a\\"Xb" d', "password=[redacted] d"),
        ("password=[a, (b)] d", "password=[redacted] d"),
        ("password=[a] [b]", "password=[redacted] [b]"),
        ("tokens=[a, b], next=1", "tokens=[redacted], next=1"),
        ("https://bob:pw@host/x", "https://[redacted]@host/x"),
        ("bob:pw@host:1 x", "[redacted]@host:1 x"),
        ("bearer abcdef12 x", "bearer [redacted] x"),
        ("basic Ym9iOnB3 x", "basic [redacted] x"),
        ("basic abcdefg1 x", "basic [redacted] x"),
        ("bearer abcdefg1 x", "bearer [redacted] x"),
        ("eyJaaaaaaaa.bbbbbbbb.c x", "[redacted] x"),
        ("ghp_aaaaaaaaaaaaaaaaaaaa x", "[redacted] x"),
        ("-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY-----\nx", "[redacted]\nx"),
        ("{'token': 'a', 'b': 1}", "{'token': [redacted], 'b': 1}"),
        ("<password>a</password>", "<password>[redacted]</password>"),
        ("('password', 'a')", "('password', [redacted])"),
        ("password=null", "password=null"),
        ("password: |\n  a\n  b\nc", "password: [redacted]\nc"),
        (f"key {'a' * 86}== y", "key [redacted] y"),
        ("Cookie: [redacted] next", "Cookie: [redacted] next"),
        ("https://h/x?sig=[redacted],x=1", "https://h/x?sig=[redacted],x=1"),
        ("jdbc:oracle:thin:bob/tiger@host:1521:x", "[redacted]@host:1521:x"),
        # The scheme's name decides: what is short is a secret only if it is a user and a password.
        ("basic dTpw x", "basic [redacted] x"),
        ("bearer dTpw x", "bearer dTpw x"),
        ("basic dTpwdw x", "basic [redacted] x"),
        ("basic dTpw~ x", "basic dTpw~ x"),
        ("bearer abcd1 x", "bearer abcd1 x"),
        (f"bearer {'a' * 23} x", f"bearer {'a' * 23} x"),
        (f"bearer {'a' * 24} x", "bearer [redacted] x"),
        # A scheme within a password, and addresses behind one that has nobody in it.
        ("x://a:b://c:d@h y://e:f/i@g", "x://[redacted]@h y://[redacted]@g"),
        ("s3a://bucket/x y://e:f/i@g", "s3a://bucket/x y://[redacted]@g"),
        ("password=, user=bob", "password=, user=bob"),
        (
            "<p> <name>my.password</name> <value>a</value></p>",
            "<p> <name>my.password</name> <value>[redacted]</value></p>",
        ),
        ('("password", "a b")', '("password", [redacted])'),
        ("password=(a b) d", "password=[redacted] d"),
        ('{\\"password\\": \\"x y\\", \\"b\\": 1}', '{\\"password\\": [redacted], \\"b\\": 1}'),
        ('{\\"password\\": \\"x y z\nnext', '{\\"password\\": [redacted]\nnext'),
        ("password='a''' z 'b'", "password=[redacted] z 'b'"),
    ]
    for text, left in cases:
        with subtests.test(text=text):
            assert redact(text) == left
            assert redact(left) == left


def test_all_but_the_source_is_left(subtests: pytest.Subtests) -> None:
    cases = [
        (
            "== SQL (line 1, position 2) ==\nSELECT x\n^^^\nrest",
            "== SQL (line 1, position 2) ==\n(source left out)\nrest",
        ),
        ("== SQL ==\nSELECT 1\n== Physical Plan ==\nx", "== SQL ==\n(source left out)\n== Physical Plan ==\nx"),
        ("a;\n+- Project x\nb;\n\nc", "a;\n\nc"),
        ("a;\nb\n+- Project x\n\nc", "a;\n\nc"),
        ("a;\nb\nc\n+- d", "a;\nb\nc\n+- d"),
        ("note: a\n+- b\nc", "note: a\n+- b\nc"),
        ("x\n== SQL ==", "x\n== SQL ==\n(source left out)"),
        ("== SQL ==\nSELECT 1", "== SQL ==\n(source left out)"),
        ("a;\n+- b", "a;"),
        ("a;\n+- b\n\nc", "a;\n\nc"),
        ("a;\nCaused by: x\n+- y", "a;\nCaused by: x\n+- y"),
        ("Caused by: a;\n'Project x\n+- y\n\nc", "Caused by: a;\n\nc"),
    ]
    for text, left in cases:
        with subtests.test(text=text):
            assert without_source(text) == left
            assert without_source(left) == left


def test_a_bracket_that_is_not_closed_and_a_password_with_an_at_sign_have_an_end() -> None:
    assert redact("password=[" + "a" * 5000) == "password=[redacted]" + "a" * (5001 - 4096)
    longest, longer = (f"x://b:{'@' * count}h" for count in (1278, 1279))
    assert redact(longest) == f"x://{MASK}@h"
    assert redact(longer) == f"x://{MASK}@@h"


FRAME = '  File "x", line 1, in f\n'


def test_a_blank_line_is_one_of_the_code_if_code_follows(subtests: pytest.Subtests) -> None:
    cases = [
        ("    g()\n\nValueError: x", "\nValueError: x"),
        ("    g()\n\n\n    h()\nValueError: x", "ValueError: x"),
        ("    g()\n\n    X\nValueError: x", "ValueError: x"),
        ("    g()\n\n  [Previous line repeated 3 more times]", "\n  [Previous line repeated 3 more times]"),
        ("    g()" + "\n" * 20 + "    h()", ""),
        ("    g()" + "\n" * 21 + "    h()", "\n" * 20 + "    h()"),
    ]
    for behind, left in cases:
        with subtests.test(behind=behind):
            assert without_source(FRAME + behind).rstrip(" ") == (FRAME + left if left else FRAME.rstrip("\n"))
