(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @of
    (generic_type type: (type_identifier) @of)
    (pointer_type [(type_identifier) @of (generic_type type: (type_identifier) @of)])
  ]))
  name: (field_identifier) @name body: (block)? @body) @method

(source_file (type_declaration (type_spec
  name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct)
  (#set! prefix "type "))
(source_file (type_declaration (type_spec
  name: (type_identifier) @name type: (interface_type "{" @body)) @interface)
  (#set! prefix "type "))
(source_file (type_declaration (type_spec name: (type_identifier) @name type: [
    (array_type) (channel_type) (function_type) (generic_type) (map_type) (parenthesized_type)
    (pointer_type) (qualified_type) (slice_type) (type_identifier)
  ] @value) @type)
  (#set! prefix "type "))
(source_file (type_declaration (type_alias name: (type_identifier) @name type: (_) @value) @type)
  (#set! prefix "type "))
(source_file (type_declaration (type_spec type: (interface_type
  (method_elem name: (field_identifier) @name) @method))))

(source_file (const_declaration (const_spec
  . name: (identifier) @name value: (_)? @body) @constant))
(source_file (const_declaration (const_spec "," . name: (identifier) @name @constant)))
(source_file (var_declaration (var_spec
  . name: (identifier) @name value: (_)? @body) @variable))
(source_file (var_declaration (var_spec "," . name: (identifier) @name @variable)))
(source_file (var_declaration (var_spec_list (var_spec
  . name: (identifier) @name value: (_)? @body) @variable)))
(source_file (var_declaration (var_spec_list (var_spec "," . name: (identifier) @name @variable))))
